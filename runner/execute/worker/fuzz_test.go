package worker

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"testing"

	"privkern/runner/execute/trial"
	"privkern/runner/experiment"
)

// nopCloser is a writer with a Close that does nothing.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// FuzzMessages reads messages of a worker: progress, then a record or an error.
func FuzzMessages(f *testing.F) {
	record := `{"record":{"schema":1,"key":"k","experiment":"demo/a","params":{"x":1},"status":"ok",` +
		`"metrics":{"y":2},"series":{"s":{"x":[1,null]}}},"last":true}`
	f.Add([]byte(`{"done":1,"total":3,"phase":"folds"}` + "\n" + record + "\n"))
	f.Add([]byte(record))
	f.Add([]byte(`{"record":null}` + "\n{}\n"))
	f.Add([]byte(`{"record":{"metrics":{"y":"Inf"}}}` + "\n"))
	f.Add([]byte("{\"record\":{}}\n"))
	f.Add([]byte("what a library printed\n"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		p := &Process{in: nopCloser{io.Discard}, messages: bufio.NewReader(bytes.NewReader(sent))}
		steps := 0
		m, err := p.exchange(trial.Job{}, func(int, int, string) { steps++ })
		if err == nil && m.Record == nil && m.Trouble == nil {
			t.Fatal("neither a record, nor a trouble, nor an error")
		}
		if lines := bytes.Count(sent, []byte("\n")); steps > lines {
			t.Errorf("%d steps in %d lines", steps, lines)
		}
		if err != nil {
			return
		}
		end := func(m message) message {
			return message{Record: m.Record, Trouble: m.Trouble, Log: m.Log, Last: m.Last}
		}
		raw, err := json.Marshal(end(m))
		if err != nil {
			t.Fatalf("the end of %s cannot be written: %v", sent, err)
		}
		p = &Process{in: nopCloser{io.Discard}, messages: bufio.NewReader(bytes.NewReader(append(raw, '\n')))}
		again, err := p.exchange(trial.Job{}, nil)
		if err != nil {
			t.Fatalf("%s is read, but not what is written of it: %v", sent, err)
		}
		if third, err := json.Marshal(end(again)); err != nil || !bytes.Equal(third, raw) {
			t.Errorf("%s became %s, %v", raw, third, err)
		}
	})
}

type jobSettings struct {
	X    float64   `name:"x" default:"1" doc:"a number"`
	N    int       `name:"n" default:"2" doc:"a whole number"`
	At   []float64 `name:"at" default:"1" doc:"numbers"`
	Word string    `name:"word" default:"a" doc:"a text"`
}

// FuzzJobs reads jobs of a runner: every job that is served is of a known experiment,
// with all of its settings and no other.
func FuzzJobs(f *testing.F) {
	demo := experiment.Of(experiment.Declaration[*jobSettings, struct{}]{Name: "demo/a", Version: 1})()
	registry := experiment.NewRegistry(demo.Experiment)
	job := `{"key":"k","experiment":"demo/a","params":{"x":1.5,"n":3,"at":[1,2]},"seed":7,` +
		`"backend":"cpu","dtype":"float64"}` + "\n"
	f.Add([]byte(job + job))
	f.Add([]byte(job[:len(job)/2]))
	f.Add([]byte(strings.Replace(job, "demo/a", "demo/b", 1)))
	f.Add([]byte(strings.Replace(job, `"n":3`, `"n":1e30`, 1)))
	f.Add([]byte("{\"experiment\":\"demo/a\",\"params\":null}\nnull\n"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		jobs, done := make(chan trial.Job), make(chan error, 1)
		go func() {
			done <- readJobs(bytes.NewReader(sent), registry, jobs)
			close(jobs)
		}()
		for j := range jobs {
			if j.Experiment != "demo/a" || len(j.Params) != 4 {
				t.Errorf("%s gives the job %+v", sent, j)
				continue
			}
			again, err := demo.Resolved(demo.Settings(j.Params))
			if err != nil || !reflect.DeepEqual(again, j.Params) {
				t.Errorf("%s gives the settings %#v, as typed ones %#v, %v", sent, j.Params, again, err)
			}
		}
		if err := <-done; err == nil || err.Error() == "" {
			t.Errorf("the input has ended, and the error is %v", err)
		}
	})
}
