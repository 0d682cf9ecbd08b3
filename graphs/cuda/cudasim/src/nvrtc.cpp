// libnvrtc: programs are translated and compiled by the host's compiler. What
// it calls PTX or CUBIN is the translated text.
#include "compile.h"
#include "version.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

namespace {

enum Result {
  SUCCESS,
  OUT_OF_MEMORY,
  PROGRAM_CREATION_FAILURE,
  INVALID_INPUT,
  INVALID_PROGRAM,
  INVALID_OPTION,
  COMPILATION,
  BUILTIN_OPERATION_FAILURE,
  NO_NAME_EXPRESSIONS_AFTER_COMPILATION,
  NO_LOWERED_NAMES_BEFORE_COMPILATION,
  NAME_EXPRESSION_NOT_VALID,
  INTERNAL_ERROR,
};

struct Program {
  cudasim::Source source;
  bool compiled = false, real = false; // real: for an architecture that is not virtual
  std::string image, log;
  std::map<std::string, std::string> names;
};

std::mutex lock;
std::set<Program *> programs;

bool valid(Program *p) { return programs.count(p) != 0; }

const int architectures[] = {50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90, 100, 101, 103, 120, 121};

// The first of them that this version compiles for: CUDA 13 has dropped those before 7.5.
const int *oldest() {
  return std::find_if(architectures, std::end(architectures), [](int a) { return cudasim::toolkit_major() < 13 || a >= 75; });
}

bool starts(const std::string &s, const char *prefix) { return s.rfind(prefix, 0) == 0; }

// Takes the options apart. Unknown ones are refused, as by the real compiler.
bool options(Program &p, int count, const char *const *given, std::string &architecture) {
  std::vector<std::string> all;
  for (int i = 0; i < count; i++) {
    std::string o = given[i] ? given[i] : "";
    // Long and short names may be followed by their value as the next option.
    if ((o == "-arch" || o == "--gpu-architecture" || o == "-D" || o == "--define-macro" || o == "-U" || o == "--undefine-macro" ||
         o == "-std" || o == "--std" || o == "-I" || o == "--include-path" || o == "-maxrregcount" || o == "--maxrregcount") &&
        i + 1 < count && given[i + 1])
      o += (o == "-D" || o == "-U" || o == "-I" ? "" : "=") + std::string(given[++i]);
    all.push_back(o);
  }
  architecture = "compute_" + std::to_string(std::max(52, *oldest()));
  bool contract = true;
  for (auto &o : all) {
    size_t equals = o.find('=');
    std::string name = o.substr(0, equals), value = equals == std::string::npos ? "" : o.substr(equals + 1);
    if (name == "-arch" || name == "--gpu-architecture") {
      size_t underscore = value.find('_');
      int cc = underscore == std::string::npos ? 0 : atoi(value.c_str() + underscore + 1);
      bool known = starts(value, "sm_") || starts(value, "compute_"), there = false;
      for (const int *a = oldest(); a < std::end(architectures); a++) there |= *a == cc;
      if (!known || !there) {
        p.log = "nvrtc: error: invalid value for --gpu-architecture (-arch): " + value + "\n";
        return false;
      }
      architecture = value;
    } else if (starts(o, "-D") || starts(o, "-U")) {
      p.source.preprocessor.push_back(o);
    } else if (name == "--define-macro") {
      p.source.preprocessor.push_back("-D" + value);
    } else if (name == "--undefine-macro") {
      p.source.preprocessor.push_back("-U" + value);
    } else if (name == "-std" || name == "--std") {
      if (value != "c++03" && value != "c++11" && value != "c++14" && value != "c++17" && value != "c++20") {
        p.log = "nvrtc: error: invalid value for --std: " + value + "\n";
        return false;
      }
      p.source.standard = value < "c++17" || value == "c++03" ? "c++17" : value;
    } else if (name == "-fmad" || name == "--fmad") {
      if (value != "true" && value != "false") {
        p.log = "nvrtc: error: invalid value for --fmad: " + value + "\n";
        return false;
      }
      contract = value == "true";
    } else if (name == "-I" || starts(o, "-I") || name == "--include-path") {
      p.source.preprocessor.push_back(starts(o, "-I") ? o : "-I" + value);
    } else {
      static const std::set<std::string> ignored = {
          "-use_fast_math", "--use_fast_math", "-ftz", "--ftz", "-prec-div", "--prec-div", "-prec-sqrt",
          "--prec-sqrt", "-G", "--device-debug", "-lineinfo", "--generate-line-info", "-default-device", "--device-as-default-execution-space",
          "-maxrregcount", "--maxrregcount", "-restrict", "--restrict", "-w", "--disable-warnings", "-dopt", "--dopt", "-ewp",
          "--extra-device-vectorization", "-rdc", "--relocatable-device-code", "-diag-suppress", "--diag-suppress",
          "-extra-device-vectorization", "-Xptxas", "--ptxas-options", "-err-no", "--display-error-number"};
      if (!ignored.count(name)) {
        p.log = "nvrtc: error: unrecognized option " + o + " found\n";
        return false;
      }
    }
  }
  p.source.contract = contract;
  return true;
}

int text_out(const std::string &text, char *out) {
  memcpy(out, text.c_str(), text.size() + 1);
  return SUCCESS;
}

} // namespace

extern "C" {

int nvrtcVersion(int *major, int *minor) {
  if (!major || !minor) return INVALID_INPUT;
  *major = cudasim::toolkit_version() / 1000;
  *minor = cudasim::toolkit_version() % 1000 / 10;
  return SUCCESS;
}

const char *nvrtcGetErrorString(int result) {
  static const char *const names[] = {
      "NVRTC_SUCCESS", "NVRTC_ERROR_OUT_OF_MEMORY", "NVRTC_ERROR_PROGRAM_CREATION_FAILURE", "NVRTC_ERROR_INVALID_INPUT",
      "NVRTC_ERROR_INVALID_PROGRAM", "NVRTC_ERROR_INVALID_OPTION", "NVRTC_ERROR_COMPILATION",
      "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE", "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
      "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION", "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID", "NVRTC_ERROR_INTERNAL_ERROR"};
  return result >= 0 && result < int(sizeof names / sizeof *names) ? names[result] : "NVRTC_ERROR unknown";
}

int nvrtcGetNumSupportedArchs(int *count) {
  if (!count) return INVALID_INPUT;
  *count = int(std::end(architectures) - oldest());
  return SUCCESS;
}

int nvrtcGetSupportedArchs(int *out) {
  if (!out) return INVALID_INPUT;
  std::copy(oldest(), std::end(architectures), out);
  return SUCCESS;
}

int nvrtcCreateProgram(Program **out, const char *text, const char *name, int headers, const char *const *header_texts,
                       const char *const *header_names) {
  if (!out || !text || headers < 0 || (headers > 0 && (!header_texts || !header_names))) return INVALID_INPUT;
  std::lock_guard<std::mutex> hold(lock);
  Program *p = new Program;
  p->source.text = text;
  p->source.name = name ? name : "";
  for (int i = 0; i < headers; i++) p->source.headers.emplace_back(header_names[i], header_texts[i]);
  programs.insert(p);
  *out = p;
  return SUCCESS;
}

int nvrtcDestroyProgram(Program **p) {
  std::lock_guard<std::mutex> hold(lock);
  if (!p || !valid(*p)) return INVALID_PROGRAM;
  programs.erase(*p);
  delete *p;
  *p = nullptr;
  return SUCCESS;
}

int nvrtcAddNameExpression(Program *p, const char *expression) {
  std::lock_guard<std::mutex> hold(lock);
  if (!valid(p)) return INVALID_PROGRAM;
  if (p->compiled) return NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
  if (!expression) return INVALID_INPUT;
  p->names[expression] = cudasim::lowered(p->source.expressions.size());
  p->source.expressions.push_back(expression);
  return SUCCESS;
}

int nvrtcGetLoweredName(Program *p, const char *expression, const char **out) {
  std::lock_guard<std::mutex> hold(lock);
  if (!valid(p)) return INVALID_PROGRAM;
  if (!p->compiled) return NO_LOWERED_NAMES_BEFORE_COMPILATION;
  auto found = p->names.find(expression ? expression : "");
  if (found == p->names.end()) return NAME_EXPRESSION_NOT_VALID;
  *out = found->second.c_str();
  return SUCCESS;
}

int nvrtcCompileProgram(Program *p, int count, const char *const *given) {
  std::lock_guard<std::mutex> hold(lock);
  if (!valid(p)) return INVALID_PROGRAM;
  if (count < 0 || (count > 0 && !given)) return INVALID_INPUT;
  p->log.clear();
  p->image.clear();
  p->source.preprocessor.clear();
  std::string architecture;
  if (!options(*p, count, given, architecture)) return INVALID_OPTION;
  p->real = starts(architecture, "sm_");
  int cc = atoi(architecture.c_str() + architecture.find('_') + 1);
  p->source.preprocessor.push_back("-D__CUDA_ARCH__=" + std::to_string(cc * 10));
  p->source.preprocessor.push_back("-D__CUDACC_VER_MAJOR__=" + std::to_string(cudasim::toolkit_version() / 1000));
  p->source.preprocessor.push_back("-D__CUDACC_VER_MINOR__=" + std::to_string(cudasim::toolkit_version() % 1000 / 10));
  std::string text, path;
  if (!cudasim::translate(p->source, text, p->log)) return COMPILATION;
  if (!cudasim::build(text, path, p->log)) return COMPILATION;
  p->image = std::string(cudasim::magic) + " " + (p->real ? "cubin" : "ptx") + " " + std::to_string(cc) + " " +
             std::to_string(cudasim::toolkit_version()) + "\n" + text;
  p->compiled = true;
  return SUCCESS;
}

int nvrtcGetPTXSize(Program *p, size_t *size) {
  std::lock_guard<std::mutex> hold(lock);
  if (!valid(p)) return INVALID_PROGRAM;
  if (!size) return INVALID_INPUT;
  *size = p->image.size() + 1;
  return p->compiled ? SUCCESS : INVALID_PROGRAM;
}

int nvrtcGetPTX(Program *p, char *out) {
  std::lock_guard<std::mutex> hold(lock);
  if (!valid(p) || !p->compiled) return INVALID_PROGRAM;
  if (!out) return INVALID_INPUT;
  std::string ptx = p->image; // PTX may be had of a real architecture too
  if (p->real) ptx.replace(ptx.find(" cubin "), 7, " ptx ");
  memset(out, 0, p->image.size() + 1);
  return text_out(ptx, out);
}

int nvrtcGetCUBINSize(Program *p, size_t *size) {
  std::lock_guard<std::mutex> hold(lock);
  if (!valid(p)) return INVALID_PROGRAM;
  if (!size) return INVALID_INPUT;
  *size = p->compiled && p->real ? p->image.size() + 1 : 0;
  return SUCCESS;
}

int nvrtcGetCUBIN(Program *p, char *out) {
  std::lock_guard<std::mutex> hold(lock);
  if (!valid(p) || !p->compiled || !p->real) return INVALID_PROGRAM;
  if (!out) return INVALID_INPUT;
  return text_out(p->image, out);
}

int nvrtcGetProgramLogSize(Program *p, size_t *size) {
  std::lock_guard<std::mutex> hold(lock);
  if (!valid(p)) return INVALID_PROGRAM;
  if (!size) return INVALID_INPUT;
  *size = p->log.size() + 1;
  return SUCCESS;
}

int nvrtcGetProgramLog(Program *p, char *out) {
  std::lock_guard<std::mutex> hold(lock);
  if (!valid(p)) return INVALID_PROGRAM;
  if (!out) return INVALID_INPUT;
  return text_out(p->log, out);
}

} // extern "C"
