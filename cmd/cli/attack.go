package cli

import (
	"github.com/spf13/cobra"

	"privkern/experiments/attack"
	"privkern/experiments/compare"
	"privkern/experiments/dataset"
	"privkern/runner/plan"
	"privkern/runner/show"
)

// defaultModels are the seeds of an attack that names none.
const defaultModels = "0..63"

func (a *app) attackCommand() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "attack METHOD|FILE dataset=DATA [name=value ...]",
		Short: "Try to learn from a method's models, or from a released file, who is in your data",
		Long: `Try to learn of the people in your data: from models of a METHOD that are fitted for
that, or from one released FILE.

With a METHOD, fit it many times to random halves of your data, and try to tell by what a
model predicts which rows (or persons, with person=COLUMN) it was trained on. Epsilon is
an upper bound of what anybody can learn; attacks are a lower one.

  threshold      who is predicted well is taken for a member
  calibrated     who is predicted better than by a few other models (Watson et al. 2022)
  LiRA, offline  by comparison with models that were not trained on the row
  LiRA, online   by the likelihood ratio of models that were and that were not
                 (Carlini et al. 2022)

The last quarter of the models are attacked, and the others are shadow models: they
show the adversary how models behave, and settle her thresholds. The table has the
area under the curve (AUC; 0.5 is guessing), and the share of members that are found
where .1, 1 and 10 % of others are taken for members, with the largest share that the
guarantee allows. Guesses about pairs, of which one is a member, prove a bound of
epsilon with 95 % confidence (Steinke et al. 2023); the exit status is 4 if it is
beyond the guarantee. The same is done to models without noise.

With canaries=N the game is about N pairs of rows that are added to be found, one of
each pair, and all of your rows are trained on: a few models suffice.

Arguments are those of run compare for one method. Each seed is a model: 64 by
default, 10 at least for LiRA. The trials are those of a sweep: Ctrl-C stops them and
the same command goes on.

With a FILE that run trial ... --release or --export wrote, try to learn from it alone
more of the rows that it was made from, dataset=DATA, than of rows of the same
distribution that it was not made from, others=DATA:

  kind=membership      who is in it (default); person=COLUMN asks for persons, and shadows=64
                       compares with so many fits of the settings in FILE.json (LiRA)
  kind=attribute       an input of a row, hidden=COLUMN, from its output and the others
  kind=reconstruction  the output of a row from its inputs; others=DATA may be left out

With a FILE that is a compression of multikernel/learn, try to learn from compressed rows,
of which some are known, dataset=DATA:

  kind=person          whose rows they are, hidden=COLUMN
  kind=attribute       a class, hidden=COLUMN; with person=COLUMN of other persons than are known
  kind=reconstruction  the inputs

Each table has the same adversary without the FILE: where she tells members from
others, the tables differ, and the FILE need not have told anything. One file proves
nothing about epsilon. Settings of run predict tell how DATA are written; of the flags
there is --output, and for compressions --seeds.

docs/attacks.md tells what each attack assumes and cannot show.`,
		Example: `  run attack baseline/logistic dataset=csv:my.csv inputs=dose+age output='kind[a|b]' \
      input_low=0,18 input_high=20,90 epsilon=1,3 delta=1e-6
  run attack dpgp/regression dataset=csv:my.csv inputs=dose output=response low=0 high=10 \
      input_low=0 input_high=20 epsilon=inf --seeds 0..127
  run attack baseline/ridge dataset=csv:my.csv inputs=dose output=response low=0 high=10 \
      input_low=0 input_high=20 epsilon=1 delta=1e-6 canaries=2 --seeds 0..15
  run attack model.json dataset=csv:members.csv others=csv:others.csv
  run attack model.json dataset=csv:members.csv others=csv:others.csv kind=attribute hidden=dose
  run attack model.json dataset=csv:members.csv others=csv:others.csv shadows=64
  run attack model.json dataset=csv:members.csv kind=reconstruction
  run attack compression.json dataset=csv:walk.csv kind=person hidden=person`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.isFile(args[0]) {
				return a.attackFile(cmd, args[0], args[1:], &o)
			}
			args, err := a.methodArguments(args)
			if err != nil {
				return err
			}
			if o.seeds == "" && !cmd.Flags().Changed("seeds") {
				o.seeds = defaultModels
			}
			shard, seeds, format, err := o.validate(cmd)
			if err != nil {
				return err
			}
			if err := enough(seeds); err != nil {
				return err
			}
			p, err := a.attack(args, nil)
			if err != nil {
				return err
			}
			return a.launch(cmd, o, shard, format, func() (*plan.Draft, error) {
				return listedDraft("attack", p.Title(), args, []*compare.Contest{p.Contest}, seeds, o.dtype)
			})
		},
	}
	o.addFlags(cmd, "float64 or float32 (default float64)")
	cmd.Flags().Lookup("seeds").Usage = "seeds, each of which is a model (default " + defaultModels + ")"
	return cmd
}

// attack settles the attack that arguments ask for, as that of a plan that has it; nil for a new one.
func (a *app) attack(args []string, from *planned) (*attack.Plan, error) {
	request, err := compare.RequestOf(args[0], args[1:])
	return settled(a, request, from, err, attack.New)
}

// enough refuses seeds that are too few for an attack.
func enough(seeds []int64) error {
	if n := len(seeds); n < attack.Fewest {
		return usagef("--seeds: there are %d models; an attack needs %d, of which two are attacked", n, attack.Fewest)
	}
	return nil
}

// onlyAttacks reports whether a plan is an attack on a method.
func onlyAttacks(p *plan.Plan) bool {
	return listed(p, func(t plan.Trial) bool { return attack.Is(t.Params) })
}

// attacked judges the results of a plan that is an attack, and gives them to its report; nil for other plans.
func (a *app) attacked(r *show.Results) (*attack.Results, error) {
	if !onlyAttacks(r.Plan) {
		return nil, nil //nolint:nilnil // there is none
	}
	p, err := a.attack(r.Plan.Overrides, &planned{Plan: r.Plan})
	if err != nil {
		return nil, err
	}
	records, err := recordsOf(r)
	if err != nil {
		return nil, err
	}
	trials, _ := trialsOf(r.Plan, records)
	out, err := p.Judge(trials)
	if err != nil {
		return nil, err
	}
	if _, published := dataset.SetName(p.Text("dataset")); published {
		out.Notes, out.Published = append(out.Notes, originOf(r.Plan, records)), true
	}
	r.Comparisons = append(r.Comparisons, pageOf(out.Page()))
	return out, nil
}
