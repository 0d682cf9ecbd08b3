package hull

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"privkern/graphs/batch"
	"privkern/graphs/engine"
	"privkern/graphs/op"
)

// pick returns the given members (ascending) of resident batches with as many members each. The
// result stays on the backend, and the caller closes it. Where all members are asked for, nothing
// is copied.
func pick(ctx context.Context, e *engine.Engine, dtype tensor.Dtype, from engine.Values, members []int,
) (engine.Values, error) {
	shapes := make(map[string]tensor.Shape, len(from))
	all := true
	for name, one := range from {
		shapes[name] = one.Shape()
		all = all && shapes[name][0] == len(members)
	}
	if all {
		return batch.Keep(e, from)
	}
	at, err := batch.Scalars(dtype, members)
	if err != nil {
		return nil, err
	}
	in := maps.Clone(from)
	in["at"] = at
	out, err := e.RunAs(ctx, dtype, pickProgram(len(members), shapes), in,
		engine.Stay(slices.Collect(maps.Keys(from))...))
	return out, known(err)
}

// failures splits the error of a run of p: one error for each member that failed, or the error of
// the whole run.
func failures(p engine.Program, err error, members int) ([]error, error) {
	all := make([]error, members)
	err = batch.Failures(err, all)
	for i := range all {
		if all[i] != nil {
			all[i] = fmt.Errorf("%s: %w", p.Name, all[i])
		}
	}
	return all, err
}

// known drops the failures of members that an earlier run has reported; a later run reports them
// again when it reads the outputs.
func known(err error) error {
	if _, ok := errors.AsType[*op.MembersError](err); ok {
		return nil
	}
	return err
}

// hosts copies resident values to the host with one wait, and closes them.
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
