// Package cost counts the work of operations on a CUDA device, and predicts the time that a
// named device takes, also where there is none.
//
// [Of] queues an operation on an [op.Stream] that only counts, so that launches are those of a
// real device. Floating-point operations follow from the shapes of kernels and calls: a
// multiplication and an addition are two, a function of an element is one. Traffic is every
// matrix of a step read or written once; integers and truth values are left out.
//
// # The model
//
// A step, one launch or one call of a library, takes the longest of four times: its
// launches; the stages inside a library's call that wait for one another; its operations at
// the device's peak rate; its traffic at the bandwidth of the memory. The rates shrink with
// the share of the multiprocessors that have work. Steps of one run follow each other. This
// is a roofline with latencies, to judge the shape of a computation, not to rank two
// libraries; it has not been compared with a device. The stages of factorisations are
// estimates, explained at their constants.
//
// # A device that pays
//
// [Plan.Predict] compares a plan on the CPU and on a device, from trials that were run on the CPU
// while their work was counted: with the start of the device, the staging of copies, and as many
// trials at a time as there are cores or devices. A [Calibration] replaces the constants of the
// model by measurements of one device.
package cost
