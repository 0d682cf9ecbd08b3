package hull

import (
	"context"
	"errors"
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/batch"
	"privkern/graphs/engine"
	"privkern/graphs/op"
)

// residents are batches by name that stay where they are computed, all of the same members.
type residents map[string]*engine.Resident

// close closes them.
func (r residents) close() {
	for _, one := range r {
		one.Close()
	}
}

// values are the inputs of a program.
func (r residents) values() engine.Values {
	v := make(engine.Values, len(r))
	for name, one := range r {
		v[name] = one
	}
	return v
}

// keep copies values to the memory of the backend.
func keep(e *engine.Engine, values engine.Values) (residents, error) {
	r := make(residents, len(values))
	for name, v := range values {
		one, err := e.Keep(v)
		if err != nil {
			r.close()
			return nil, err
		}
		r[name] = one
	}
	return r, nil
}

// pick returns the batches of some members, in ascending order, which the caller closes: a
// copy that the host has no part in, or nothing new where they are all there are.
func pick(ctx context.Context, e *engine.Engine, dtype tensor.Dtype, from residents, members []int) (residents, error) {
	shapes := make(map[string]tensor.Shape, len(from))
	all := true
	for name, one := range from {
		shapes[name] = one.Shape()
		all = all && shapes[name][0] == len(members)
	}
	if all {
		return keep(e, from.values())
	}
	at, err := batch.Scalars(dtype, members)
	if err != nil {
		return nil, err
	}
	in, names := from.values(), make([]string, 0, len(from))
	for name := range from {
		names = append(names, name)
	}
	in["at"] = at
	out, err := e.RunAs(ctx, dtype, pickProgram(len(members), shapes), in, engine.Stay(names...))
	if err = known(err); err != nil {
		return nil, err
	}
	picked := make(residents, len(from))
	for _, name := range names {
		picked[name] = out[name].(*engine.Resident)
	}
	return picked, nil
}

// failures are the errors of the members for which the run of a program failed, nil for the
// others, or the error of the whole run.
func failures(p engine.Program, err error, members int) ([]error, error) {
	all := make([]error, members)
	var failed *op.MembersError
	if !errors.As(err, &failed) || failed.Members != members {
		return all, err
	}
	for _, f := range failed.Failed {
		all[f.Member] = fmt.Errorf("%s: %w", p.Name, f.Err)
	}
	return all, nil
}

// known drops failures of members that came with an earlier run, whose outputs a run or a
// copy has used.
func known(err error) error {
	var failed *op.MembersError
	if errors.As(err, &failed) {
		return nil
	}
	return err
}

// hosts brings resident values to the host in one go, and closes them.
func hosts(ctx context.Context, values []*engine.Resident) ([]gorgonia.Value, error) {
	in := make(engine.Values, len(values))
	for i, v := range values {
		in[fmt.Sprint(i)] = v
	}
	out, err := engine.Fetch(ctx, in)
	if err = known(err); err != nil {
		return nil, err
	}
	all := make([]gorgonia.Value, len(values))
	for i := range values {
		all[i] = out[fmt.Sprint(i)]
	}
	return all, nil
}
