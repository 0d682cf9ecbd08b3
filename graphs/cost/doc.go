// Package cost says what operations ask of a CUDA device, and predicts how long a named
// device takes, where there is none.
//
// [Of] queues an operation on a device that only counts: what [op.Stream] would launch is
// what a real one launches. Operations are counted from the shapes of what is called: a
// multiplication and an addition are two, a function of an element is one. Traffic is every
// matrix of a step read or written once, without the integers and truth values beside them.
//
// # The model
//
// A step, one launch or one call of a library, takes the longest of four times: its
// launches; the stages inside a library's call that wait for one another; its operations at
// the device's peak rate; its traffic at the bandwidth of the memory. The rates shrink with
// the share of the multiprocessors that have work. Steps of one run follow each other. This
// is a roofline with latencies, to judge the shape of a computation, not to rank two
// libraries; it has not been held against a device. The stages of factorisations are
// estimates, which the constants beside them explain.
package cost
