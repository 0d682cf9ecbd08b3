// From CUDA C++ to a shared object, by the host's compiler. Used by libnvrtc,
// where a user sees errors, and by libcuda, which loads the result.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cudasim {

struct Source {
  std::string name, text;
  std::vector<std::pair<std::string, std::string>> headers; // name, text
  std::vector<std::string> preprocessor;                    // -D and -U options
  std::string standard = "c++17";
  bool contract = true;                                     // products and sums into fused multiply-adds
  std::vector<std::string> expressions;                     // kernels asked for by expression
};

// Turns a program into text that the host's compiler takes together with the
// prelude. False with messages in log where the preprocessor fails.
bool translate(const Source &, std::string &out, std::string &log);

// Compiles translated text and gives the path of the shared object, from the
// cache where it is there. False with the compiler's messages in log.
bool build(const std::string &text, std::string &path, std::string &log);

// Whether kernels are to be compiled, and run, with a check for races: CUDASIM_CHECK.
bool checks_races();

// File and line of an offset in a shared object that was built for that check; empty where that cannot be had.
std::string line_of(const std::string &object, uintptr_t offset);

// What cuModuleGetFunction knows a kernel by that was asked for by expression.
std::string lowered(size_t expression);

// First line of translated text; the rest of it is architecture and version.
constexpr const char *magic = "//cudasim 1";

} // namespace cudasim
