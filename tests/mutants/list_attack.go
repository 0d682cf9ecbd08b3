package main

const (
	attack   = "./experiments/attack"
	released = attack + "/released"
)

// attackMutants are wrong lines of attacks, and a leak that they find.
var attackMutants = []Mutant{
	{Name: "attack: a tenth of the noise is found", File: sums, Package: attack, Tests: "TestLeak",
		Old: `total[i] += n.Scale() * v`, New: `total[i] += n.Scale() * v / 10`},
	{Name: "attack: a shadow model judges itself", File: "experiments/attack/lira.go", Package: attack,
		Tests: "TestWithoutOne", Old: `if v.model != without {`, New: `if v.model >= 0 {`},
	{Name: "attack: ratio of densities", File: "experiments/attack/lira.go", Package: attack,
		Tests: "TestLikelihoodRatio", Old: `in[unit].logDensity(x) - out[unit].logDensity(x)`,
		New: `in[unit].logDensity(x) + out[unit].logDensity(x)`},
	{Name: "attack: a deviation for each unit", File: "experiments/attack/lira.go", Package: attack,
		Tests: "TestLikelihoodRatio", Old: `if s.count <= manyShadows {`, New: `if s.count < manyShadows+5 {`},
	{Name: "attack: equal scores count half", File: "experiments/attack/roc.go", Package: attack, Tests: "TestAUC",
		Old: `float64(i+j+1)/2`, New: `float64(i+j+2)/2`},
	{Name: "attack: thresholds of non-members", File: "experiments/attack/judge.go", Package: attack,
		Tests: "TestLeadIsFound", Old: `if !m.Member[unit] {`, New: `if m.Member[unit] {`},
	{Name: "attack: share of delta in proofs", File: "experiments/attack/proved.go", Package: attack, Tests: "TestTail",
		Old: `beta+2*float64(m)*delta*largest`, New: `beta+float64(m)*delta*largest`},
	{Name: "attack: confidence of proofs", File: "experiments/attack/proved.go", Package: attack, Tests: "TestProved",
		Old: `<= 1-confidence }`, New: `<= 2*(1-confidence) }`},
	{Name: "attack: targets do not choose guesses", File: "experiments/attack/guess.go", Package: attack,
		Tests: "TestAttacksHold", Old: `ahead := leads(a.shadows, a.ofShadows)`,
		New: `ahead := leads(a.targets, a.ofTargets)`},
	{Name: "attack: pairs of a target that failed", File: "experiments/attack/guess.go", Package: attack,
		Tests: "TestFailedModels", Old: `len(ahead) + g.failed*len(`, New: `len(ahead) + 0*g.failed*len(`},
	{Name: "attack: persons are those of all rows", File: "experiments/method/membership.go",
		Package: "./experiments/method", Tests: "TestMembershipOfPersons", Old: `order[i] = people.Of[split[k][0]]`,
		New: `order[i] = k`},
	{Name: "attack: two steps of add-remove", File: "experiments/attack/plan.go", Package: attack, Tests: "TestAllows",
		Old: `Epsilon: 2 * epsilon, Delta:`, New: `Epsilon: epsilon, Delta:`},
	{Name: "attack: members are those that are trained on", File: "experiments/method/membership.go",
		Package: "./experiments/method", Tests: "TestMembershipPairs", Old: `if i >= tests {`, New: `if i < tests {`},
	{Name: "attack: twins on both sides", File: "experiments/method/membership.go", Package: "./experiments/method",
		Tests: "TestMembershipTwins", Old: `if member[i] == 0 && trained[key(rows)] {`,
		New: `if member[i] == 1 && trained[key(rows)] {`},
	{Name: "attack: released: learners of each other", File: "experiments/attack/released/membership.go",
		Package: released, Tests: "TestBlindIsHonest", Old: `wider = resampled`, New: `wider = 1`},
	{Name: "attack: released: rows judge their own learner", File: "experiments/attack/released/membership.go",
		Package: released, Tests: "TestBlindIsHonest", Old: `train, test := among(part, k, false, nil)`,
		New: `train, test := among(part, -1, false, nil)`},
	{Name: "attack: released: the hidden input is known", File: "experiments/attack/released/attribute.go",
		Package: released, Tests: "TestHeld", Old: `clear(rows.Scale[h.column : h.column+h.width])`,
		New: `clear(rows.Scale[h.column:h.column])`},
	{Name: "attack: released: shadow models have another unit", File: "experiments/attack/released/shadows.go",
		Package: released, Tests: "TestShadowsTellMembers", Old: `prediction.Mean[i] = own.Scaled(v)`,
		New: `prediction.Mean[i] = v`},
}
