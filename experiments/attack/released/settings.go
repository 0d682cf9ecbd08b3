package released

import (
	_ "embed"
	"errors"
	"fmt"

	"privkern/experiments/dataset/table"
	"privkern/experiments/method"
	"privkern/runner/experiment"
)

//go:embed settings.go
var source string

func init() {
	experiment.Document[Settings](source)
	experiment.Document[Wanted](source)
}

// Kind is that of an attack.
type Kind int

// The kinds.
const (
	Membership Kind = iota
	Attribute
	Person
	Reconstruction
)

// Choices are the names of the kinds.
func (Kind) Choices() []string {
	return []string{"membership", "attribute", "person", "reconstruction"}
}

// Wanted is the setting of the kind alone.
type Wanted struct {
	// what an adversary tries to learn
	Kind Kind `name:"kind" default:"membership"`
}

// Settings are those of an attack on a file.
type Settings struct {
	Wanted
	// rows that the file was made from
	Dataset string `name:"dataset" default:""`
	// rows of the same distribution that it was not made from
	Others string `name:"others" default:""`
	// column that the file predicts, where it names none
	Output string `name:"output" default:""`
	// column that names the person of a row
	Person string `name:"person" default:""`
	// shadow models that LiRA compares with: trials of the method of the file; 0 for none
	Shadows int `name:"shadows" default:"0" min:"0" max:"10000"`
	// input that is restored
	Hidden string `name:"hidden" default:""`
	table.Reading
}

// check refuses settings that are wrong for any file.
func (s *Settings) check() error {
	if s.Dataset == "" {
		return errors.New("dataset is not given: an attack is judged by the rows that the file was made from, " +
			"dataset=csv:members.csv")
	}
	if s.Others == "" && s.Kind != Reconstruction && s.Kind != Person {
		return errors.New("others is not given: members are told from rows of the same distribution that the file was not " +
			"made from, such as some that were held out, others=csv:others.csv; where there are none, run attack METHOD " +
			"fits models to halves of the data")
	}
	for _, one := range []struct{ name, value string }{{"dataset", s.Dataset}, {"others", s.Others}} {
		if one.value != "" && !table.Is(one.value) {
			return fmt.Errorf("%s = %q: it is data of your own, such as csv:PATH%s", one.name, one.value, method.Like(one.value))
		}
	}
	if s.Dataset == s.Others {
		return fmt.Errorf("others = %s: these are the members themselves; name rows that the file was not made from",
			s.Others)
	}
	return s.Valid()
}
