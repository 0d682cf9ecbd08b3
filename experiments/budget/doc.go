// Package budget keeps the ledger of releases: one file with an account for each set of data
// and unit of protection. [Ledger.Book] books a release before any noise is drawn, and
// refuses one that exceeds the limit of an account. A release that fails after its booking has spent: an observer may
// have seen that it failed.
//
// # Accounts
//
// An account belongs to a source, the people behind data, and to a unit of protection. A release
// that protects a whole row protects the output of a row and its inputs as well, and is booked in
// all three accounts, in one write; one that protects persons is booked in that of persons besides.
//
// # Sources
//
// The data of a release belong to every source that knows
//
//   - their place: the path of the file, without links, or the name of a paper's data set;
//   - one of their persons, where the release names the column of them: exactly, by an HMAC;
//   - their rows or columns, by a keyed sample of them (package sketch), whatever the release uses of them;
//   - the bytes of the columns that are used, in any order, which is all that schema 1 knew.
//
// All of these are charged, each within its own limit, and then know the place, the sample and the
// persons as well: data that join two groups of people join their budgets from then on. Data that
// no source knows open one. A person may name the account ([Request]). A name is no way
// to a fresh budget: a new one is refused for data that others know, and an old one is charged
// beside them, unless a person declares that these are other people. The ledger keeps the reason.
//
// A file in which every value is changed, and that lies elsewhere, is not recognised, nor is one with
// less than three tenths of the rows of the smaller of both. [Ledger.Link] makes sources one: the
// entries of both count together, within the smaller limit. What either had spent before was
// within its own limit only.
//
// Nothing that leaves depends on which source knows data, because one person decides it: a release tells its
// account to the ledger alone, and a refusal to the operator.
//
// # Publications
//
// A release that publishes the inputs of every row as they are (or the outputs) spends without bound
// on the accounts that protect them: of inputs, rows and persons. Where these have entries it is
// refused; and so is a later one that would protect what is public. Every release that protects
// a part of a row has an entry in the account of the part, so that this account decides. That
// of persons goes on for the part that is not public. Parts are those of the release: a column that is an
// input of one and the output of another counts as what each of them takes it for.
//
// # Filters
//
// An entry books up to three amounts of a release ([loss.Booked]), each of which bounds the whole
// of it: a pure ε; a μ of Gaussian differential privacy outside of a δ₀; and a ρ of
// zero-concentrated differential privacy. A filter adds up one of them over all
// entries, and admits a release if the sums with it are within the limit (ε, δ):
//
//   - pure: Σε ≤ ε.
//   - gaussian: Σμ² ≤ M² and Σδ₀ ≤ δ/20, where M is the largest μ that is (ε, 16/20 δ)-private.
//   - zcdp: Σρ ≤ R, where R is the largest ρ that is (ε, 3/20 δ)-private.
//
// A first release that is pure counts in the last two by its ε, if that leaves more: the others then
// are held to M or R of (ε less this one, δ).
//
// A release is booked if at least one filter admits it together with all entries before it,
// regardless of the filters that admitted those; or if it is the first, and its own guarantee is within the limit.
//
// # Why the limit holds
//
// Somebody chooses each release, and with it the amounts that it books, after the outputs of those
// before it, and asks for as many as desired. Let P and P' be the distributions of the transcript,
// all requests with their outputs or refusals, on neighbouring data. Then P(E) ≤ e^ε P'(E) + δ for
// every set E of transcripts.
//
// One filter, without δ₀. The mechanism that refuses a release if the filter F does not admit it, and only
// then, is (ε, δ_F)-private, with δ_F its part of δ, and 0 for pure: for sums of ε, Rogers, Roth, Ullman
// and Vadhan, "Privacy odometers and filters: pay-as-you-go composition", NeurIPS 2016; of μ², Smith and
// Thakurta, "Fully adaptive composition for Gaussian differential privacy", 2022
// (arXiv:2210.17520), and Koskela, Tobaben and Honkela, "Individual privacy accounting with
// Gaussian differential privacy", ICLR 2023; of ρ, Feldman and Zrnic, "Individual privacy accounting
// via a Rényi filter", NeurIPS 2021, for every order at once, and Whitehouse, Ramdas, Rogers and Wu,
// "Fully-adaptive composition in differential privacy", ICML 2023.
//
// With δ₀. A release outside of δ₀ is, on either of the neighbouring data, one that with
// probability δ₀ reveals all, and otherwise answers by a mechanism that has the μ itself. Let Q
// and Q' be the distributions of transcripts where all releases answer by these, and w(t) the
// product of 1 − δ₀ over the releases of a transcript t, which is the same on both data,
// because t fixes the requests. The part of P in which nothing is revealed has the density
// w dQ, and the rest has at most the largest sum of δ₀ along a transcript, 1/20 δ, by the union bound.
// By the last paragraph ∫ f dQ ≤ e^ε ∫ f dQ' + δ_F for every f from 0 to 1, and so for w on E:
//
//	P(E) ≤ ∫_E w dQ + δ/20 ≤ e^ε ∫_E w dQ' + δ_F + δ/20 ≤ e^ε P'(E) + δ_F + δ/20.
//
// The part of δ for the δ₀ is fixed for this reason. A limit on M(ε, δ − Σδ₀) would follow the outputs:
// after one that tells much more noise gains most, after one that tells little a chance of
// revealing all does, and who chooses between them exceeds δ.
//
// With the first release counted by its ε₁, the others are (ε − ε₁, δ_F + δ/20)-private by this
// argument, for every output of the first, and all of them (ε, δ_F + δ/20) by composition; of ρ without the δ/20.
// In which way a filter counts it follows from the first release and the limit, and so from no output.
//
// All filters. Let A_F be the transcripts of which F is the first, in a fixed order, that admits all
// releases. Sums only grow, so that a filter that admits the last release admitted each before it: the A_F
// are a partition. On a transcript of A_F nothing is refused that F admits and nothing done that F
// refuses, so that it has the same probability under the mechanism of F alone, on both data. Hence
//
//	P(E) = Σ_F P_F(E ∩ A_F) ≤ Σ_F (e^ε P'_F(E ∩ A_F) + δ_F) + δ/20 ≤ e^ε P'(E) + δ,
//
// as the Gaussian filter takes 16 + 1 of 20 parts, that of ρ takes 3, and pure none.
//
// The first release. If no filter admits it, none admits a sequence that begins with it. So it is the
// only one, for every output, and its own guarantee is that of all.
//
// # Rounding
//
// Sums are exact: of ε as the decimal numbers that the ledger shows, so that
// ten releases of 0.1 fill a limit of 1, and of μ², ρ and δ₀ as binary numbers. M and R are
// rounded down by more than the error with which they are computed. So no release
// passes by rounding that the filter in real numbers refuses.
//
// For example, with a limit of (1, 1e-5), M is 0.2645. A release calibrated to (0.5,
// 1e-5) has μ = 0.142, and three fit: 3 · 0.142² = 0.061 and M² = 0.070.
//
// # Limits
//
// A new account has the default limit of the ledger: ε = [DefaultEpsilon] at δ =
// [AutoDelta] until a person sets another, of the n of its first release. All that is shown of the
// account, spent, left and refused, is at this one δ. A limit may be raised or lowered at any time. It
// decides about the next release; past releases stay spent. A filter admits more with a larger ε or δ,
// so that the guarantee of the data is (ε, δ) for any ε and δ that no limit exceeds at any time.
// A release books δ₀ of the δ that it finds, an eighth of what is left: if δ is lowered afterwards,
// their sum may be above its part, and then that filter admits nothing more.
//
// # Ledgers of the first version
//
// Accounts of schema 1 added up either μ, or ε and δ, with all of δ. They are read: an entry with a μ and a
// δ books this μ, any other its guarantee, by [loss.Stated]. Such an account keeps its limit. Over both times
// its data have the guarantee (ε, 2δ), because the sequences that the first version admitted add a set to
// the partition above; or (ε, 3δ) if its rule was changed after looking at outputs.
//
// # The file
//
//	{
//	 "schema": 2,
//	 "sha256": "c2e56819...",          of the file with 64 zeros in its place
//	 "key": "7f0c...",                 of all HMACs, random
//	 "default": {"epsilon": 3},        where a person has set one
//	 "sources": [
//	  {"id": 1, "names": ["patients"], "label": "dose study",
//	   "places": ["a0a0..."], "sketches": [{"sets": [...]}], "persons": "AAAA..."}
//	 ],
//	 "accounts": [
//	  {
//	   "number": 1,
//	   "source": 1,
//	   "unit": "output",
//	   "n": 544,
//	   "limit": {"epsilon": 3, "delta": 1e-6},
//	   "entries": [
//	    {"time": "2026-01-02T03:04:05Z", "experiment": "cloaking/regression",
//	     "epsilon": 1, "delta": 0.001, "mu": 0.388, "rho": 0.0754, "found": "sketch"}
//	   ]
//	  }
//	 ]
//	}
//
// Whoever may read the file has its key, and can test guesses of rows and persons: it is for its owner
// only (0600).
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
