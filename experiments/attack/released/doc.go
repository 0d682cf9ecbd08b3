// Package released attacks a released file: a predictive model, its only fit.
//
// The adversary has the file, a table of the rows that it was made from, the members, and one of rows of the same
// distribution that it was not made from, the others. She is judged by how much better she does on members than on
// others: that is learnt of individuals, whereas inference that holds for anybody is the purpose of a model
// (Yeom, Giacomelli, Fredrikson and Jha, "Privacy risk in machine learning", CSF 2018).
//
// # Kinds
//
// Membership takes a row for a member that the model predicts well, as attacks on methods do. Attribute inference
// restores a hidden input of a row from its output and its other inputs (Fredrikson et al., "Privacy in
// pharmacogenetics", USENIX Security 2014). Reconstruction restores outputs of rows whose inputs are known.
//
// # Without the file
//
// Whoever has others alone can do much of this. Each table has the same adversary without the file, a learner that is
// cross-fitted on the rows themselves: where it tells members from others, the tables differ, and the file
// need not have told anything (Das, Zhang and Tramèr, "Blind baselines beat membership inference attacks for
// foundation models", 2024). Where outputs of members are easier to predict for anybody, a learner that predicts them
// from others alone is ahead as well, and the threshold attack is compared with it.
//
// # Intervals
//
// Members and others are independent of each other where the model has learnt nothing of individuals, so that
// intervals over rows (95 %, normal) tell whether a difference could be chance; where rows are told apart by learners
// of each other, they are wider (Nadeau and Bengio 2003). A finding is claimed at this level for all attacks
// together. They are for rows like these and this one file: all rows depend on it, and another fit of the same method
// may tell more. Who is a member was decided by whoever made the file, and not by coins, so that nothing is proved
// about ε.
package released
