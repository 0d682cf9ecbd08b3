// Package loss accounts for the privacy loss of releases that compose several mechanisms.
//
//   - [Book] returns the [Booked] of a release: the amounts by which it enters the sums over many
//     releases. [Stated] returns those of a release of which only (ε, δ) is known.
//   - [PureGDP] returns the Gaussian mechanism that stands for any pure one.
package loss
