// Package budget keeps the ledger of releases: one file with an account for each set of data
// and unit of protection. [Ledger.Book] books a release before any noise is drawn, and
// refuses one that exceeds the limit of an account. A release that fails after its booking has spent: an observer may
// have seen that it failed.
//
// # Accounts
//
// An account belongs to data and a unit. Data are named by a digest of their
// canonical form, or by the name that the operator gives them (a budget id), which
// lets data that grow, or that exist in several forms, share one budget. A release
// that protects a whole row protects the output of a row and its inputs as well, and
// is booked in all three accounts, in one write.
//
// # Rules
//
// The first booking fixes the rule by which an account adds up:
//
//   - [GDP], where the first release has a μ of Gaussian differential privacy.
//     Releases pass while Σμ² ≤ M², where M is the largest μ that the limit (ε, δ)
//     allows. This holds where each release and its budget are chosen after
//     the outputs of those before it: Smith and Thakurta, "Fully adaptive
//     composition for Gaussian differential privacy", 2022 (arXiv:2210.17520);
//     Koskela, Tobaben and Honkela, "Individual privacy accounting with Gaussian
//     differential privacy", ICLR 2023.
//   - [Basic], elsewhere. Releases pass while Σε and Σδ are within the limit, which
//     is valid for adaptive choices too: Rogers, Roth, Ullman and Vadhan, "Privacy
//     odometers and filters: pay-as-you-go composition", NeurIPS 2016.
//
// A pure release in a GDP account enters with the μ of [PureGDP]. A release that is
// (ε, δ)-private with δ > 0 and has no μ is refused there: its trade-off curve is
// below every Gaussian one, so no μ bounds it, and no filter of one number is
// known to be valid for the mixture.
//
// # Rounding
//
// Sums are exact: of ε and δ as the decimal numbers that the ledger shows, so that
// ten releases of 0.1 fill a limit of 1, and of μ² as binary numbers. M is
// rounded down by more than the error with which it is computed. So no release
// passes by rounding that the rule in real numbers refuses.
//
// For example, with a limit of (1, 1e-5), M is 0.268. A release calibrated to (0.5,
// 1e-5) has μ = 0.142, and three fit: 3 · 0.142² = 0.061 and M² = 0.072. By sums one
// fits: two would be (1, 2e-5).
//
// # Limits
//
// A new account has the default limit of the ledger: ε = [DefaultEpsilon] at δ =
// 0.1/n until a person sets another. A limit may be raised or lowered at any time. It
// decides about the next release; past releases stay spent, and the guarantee
// of the data is the larger of the limits that they have had.
//
// # The file
//
//	{
//	 "schema": 1,
//	 "sha256": "c2e56819...",          of the file with 64 zeros in its place
//	 "default": {"epsilon": 3},        where a person has set one
//	 "accounts": [
//	  {
//	   "data": "a0a0a0a0...",          or "name": the budget id
//	   "label": "dose study",
//	   "unit": "output",
//	   "n": 544,
//	   "rule": "gdp",
//	   "limit": {"epsilon": 3, "delta": 0.00184},
//	   "entries": [
//	    {"time": "2026-01-02T03:04:05Z", "experiment": "cloaking/regression",
//	     "epsilon": 1, "delta": 0.001, "mu": 0.388}
//	   ]
//	  }
//	 ]
//	}
//
// The ledger is JSON with a schema number and a SHA-256 over all of its bytes. It
// is replaced as a whole under a lock on a file next to it, and synced before
// Book returns. A file that is torn, edited or of a newer schema is refused, and
// never replaced. The version before the last change stays next to it (".bak") for
// a person to look at; it lacks the last booking, so nothing falls back on it. The
// SHA-256 recognises accidents, not forgery: whoever may write the file may
// recompute it.
//
// Times of entries are information. Their order is that of the file, and no
// decision depends on a clock.
package budget
