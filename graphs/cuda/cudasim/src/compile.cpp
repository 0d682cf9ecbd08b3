#include "compile.h"

#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <fstream>
#include <set>
#include <spawn.h>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace cudasim {
namespace {

std::string read_file(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

bool write_file(const std::string &path, const std::string &text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  return bool(out);
}

// A folder of one call, removed with what is in it.
struct Folder {
  std::string path;
  std::vector<std::string> files;
  Folder() {
    const char *base = getenv("TMPDIR");
    std::string pattern = std::string(base && *base ? base : "/tmp") + "/cudasim-XXXXXX";
    if (mkdtemp(&pattern[0])) path = pattern;
  }
  std::string file(const std::string &name) {
    files.push_back(path + "/" + name);
    return files.back();
  }
  ~Folder() {
    for (auto &f : files) unlink(f.c_str());
    if (!path.empty()) rmdir(path.c_str());
  }
};

// The folder of this library, where the prelude lies too.
std::string home() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void *>(&home), &info) || !info.dli_fname) return ".";
  std::string path = info.dli_fname;
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

// Compiled modules are kept beside the libraries, unless another folder is
// named. They go when that folder goes: a Go program ends without a chance to
// clean up.
std::string cache() {
  const char *named = getenv("CUDASIM_CACHE");
  std::string path = named && *named ? named : home() + "/cache";
  mkdir(path.c_str(), 0777);
  return path;
}

int run(const std::vector<std::string> &arguments, const std::string &log) {
  std::vector<char *> argv;
  for (auto &a : arguments) argv.push_back(const_cast<char *>(a.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child;
  int failed = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed) {
    write_file(log, "cudasim: cannot run " + arguments[0] + ": " + strerror(failed) + "\n");
    return 127;
  }
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

std::string compiler() {
  const char *named = getenv("CUDASIM_CXX");
  return named && *named ? named : "g++";
}

// Messages name the program as its author did, not the folder it was put in.
std::string without(std::string text, const std::string &folder) {
  for (size_t at; (at = text.find(folder)) != std::string::npos;) text.erase(at, folder.size());
  return text;
}

uint64_t hash(const std::string &text) { // FNV-1a
  uint64_t h = 1469598103934665603ull;
  for (unsigned char c : text) h = (h ^ c) * 1099511628211ull;
  return h;
}

// --- tokens of preprocessed text --------------------------------------------------

struct Token {
  std::string before, text; // white space and line markers before it
  bool identifier() const { return isalpha((unsigned char)text[0]) || text[0] == '_'; }
};

std::vector<Token> tokens(const std::string &s, std::string &rest) {
  std::vector<Token> out;
  size_t i = 0, n = s.size();
  std::string before;
  bool line_start = true;
  while (i < n) {
    if (s[i] == '\n') {
      before += s[i++];
      line_start = true;
    } else if (isspace((unsigned char)s[i])) {
      before += s[i++];
    } else if (line_start && s[i] == '#') { // a line marker or a pragma
      while (i < n && s[i] != '\n') before += s[i++];
    } else {
      line_start = false;
      size_t start = i;
      if (isalpha((unsigned char)s[i]) || s[i] == '_') {
        while (i < n && (isalnum((unsigned char)s[i]) || s[i] == '_')) i++;
      } else if (isdigit((unsigned char)s[i])) {
        while (i < n && (isalnum((unsigned char)s[i]) || s[i] == '.' || s[i] == '_' ||
                         ((s[i] == '+' || s[i] == '-') && strchr("eEpP", s[i - 1]))))
          i++;
      } else if (s[i] == '"' || s[i] == '\'') {
        char quote = s[i++];
        while (i < n && s[i] != quote) i += s[i] == '\\' ? 2 : 1;
        i = i < n ? i + 1 : n;
      } else {
        i++;
      }
      out.push_back({before, s.substr(start, i - start)});
      before.clear();
    }
  }
  rest = before;
  return out;
}

// The index after the bracket that closes the one at i.
size_t closing(const std::vector<Token> &t, size_t i) {
  const std::string open = t[i].text, close = open == "(" ? ")" : open == "{" ? "}" : "]";
  int depth = 0;
  for (; i < t.size(); i++) {
    if (t[i].text == open) depth++;
    if (t[i].text == close && --depth == 0) return i + 1;
  }
  return t.size();
}

struct Kernel {
  std::string name, bounds = "0";
  bool c_linkage = false;
};

// Reads the head of a kernel from __global__ at i. body is the index of the
// brace that opens it, 0 for a declaration.
Kernel head(const std::vector<Token> &t, size_t i, size_t &body) {
  Kernel k;
  body = 0;
  for (i++; i < t.size() && t[i].text != ";" && t[i].text != "{"; i++) {
    if (t[i].text == "__launch_bounds__" && i + 1 < t.size() && t[i + 1].text == "(") {
      size_t end = closing(t, i + 1);
      k.bounds.clear();
      int depth = 0;
      for (size_t j = i + 2; j + 1 < end && !(t[j].text == "," && depth == 0); j++) {
        if (t[j].text == "(") depth++;
        if (t[j].text == ")") depth--;
        k.bounds += t[j].text + " ";
      }
      i = end - 1;
    } else if (t[i].text == "__attribute__" && i + 1 < t.size() && t[i + 1].text == "(") {
      i = closing(t, i + 1) - 1;
    } else if (t[i].text == "(" && t[i - 1].identifier()) {
      k.name = t[i - 1].text;
      size_t end = closing(t, i);
      if (end < t.size() && t[end].text == "{") body = end;
      return k;
    }
  }
  return k;
}

// Replaces `extern __shared__ T name[];`, t[i] being extern, and gives the
// index after it; i where it is something else.
size_t dynamic_shared(const std::vector<Token> &t, size_t i, bool file_scope, std::string &out) {
  size_t end = i;
  bool shared = false;
  while (end < t.size() && t[end].text != ";" && t[end].text != "{" && t[end].text != "(") shared |= t[end++].text == "__shared__";
  // __align__(16) has a bracket before the end.
  while (shared && end < t.size() && t[end].text != ";") end++;
  if (!shared || end == t.size()) return i;
  std::string type, name, lines;
  for (size_t j = i; j <= end; j++) {
    for (char c : t[j].before)
      if (c == '\n') lines += c;
    const std::string &x = t[j].text;
    if (x == "extern" || x == "__shared__" || x == ";") continue;
    if (x == "__align__" || x == "alignas" || x == "__attribute__") {
      if (j + 1 < end && t[j + 1].text == "(") j = closing(t, j + 1) - 1;
      continue;
    }
    if (x == "[") break;
    if (!name.empty()) type += name + " ";
    name = x;
  }
  if (name.empty() || type.empty()) return i;
  out += lines;
  if (file_scope) out += "static const cudasim_dynamic<" + type + "> " + name + " = {};";
  else out += type + "*" + name + " = reinterpret_cast<" + type + "*>(cudasim_now.dynamic_shared);";
  return end + 1;
}

// The names that the declaration of t[i], __shared__, makes, and the index of the semicolon that ends it.
std::vector<std::string> declared(const std::vector<Token> &t, size_t i, size_t &end) {
  std::vector<std::string> names;
  for (int depth = 0; i < t.size(); i++) {
    const std::string &x = t[i].text;
    if (depth == 0 && t[i - 1].identifier() && (x == "[" || x == "," || x == ";" || x == "=")) names.push_back(t[i - 1].text);
    if (depth == 0 && x == ";") break;
    if (x == "(" || x == "[" || x == "{" || x == "<") depth++;
    if (x == ")" || x == "]" || x == "}" || x == ">") depth--;
  }
  end = i;
  return names;
}

} // namespace

std::string lowered(size_t expression) { return "cudasim_expression_" + std::to_string(expression); }

bool translate(const Source &source, std::string &out, std::string &log) {
  Folder folder;
  if (folder.path.empty()) {
    log = "cudasim: cannot make a temporary folder\n";
    return false;
  }
  std::string base = source.name.empty() ? "default_program" : source.name;
  for (char &c : base)
    if (c == '/') c = '_';
  std::string input = folder.file(base), text = folder.file("cudasim-preprocessed"), messages = folder.file("cudasim-log");
  write_file(input, source.text);
  for (auto &h : source.headers) {
    if (h.first.find('/') != std::string::npos) {
      log = "cudasim: header " + h.first + ": names with folders are not supported\n";
      return false;
    }
    write_file(folder.file(h.first), h.second);
  }
  std::vector<std::string> command = {compiler(), "-E", "-x", "c++", "-std=" + source.standard, "-nostdinc", "-nostdinc++",
                                      "-D__CUDACC__=1", "-D__CUDACC_RTC__=1", "-D__NVCC__=1", "-D__CUDASIM__=1",
                                      "-I" + folder.path, "-o", text};
  command.insert(command.end(), source.preprocessor.begin(), source.preprocessor.end());
  command.push_back(input);
  if (run(command, messages) != 0) {
    log = without(read_file(messages), folder.path + "/");
    return false;
  }
  log = without(read_file(messages), folder.path + "/");

  std::string rest, body_of, sections;
  std::vector<Token> t = tokens(without(read_file(text), folder.path + "/"), rest);
  std::vector<Kernel> kernels;
  std::set<std::string> known;
  size_t body_end = 0, pending_body = 0;
  int depth = 0, linkage_braces = 0; // braces of extern "C" { } and namespaces do not make a scope
  std::vector<bool> scope;           // of each open brace, whether it does
  bool in_template = false;
  Kernel pending;
  std::vector<std::string> arrays; // that the declaration up to arrays_end makes
  size_t arrays_end = 0;
  for (size_t i = 0; i < t.size();) {
    const std::string &x = t[i].text;
    bool file_scope = depth == linkage_braces;
    if (file_scope && x == "template") in_template = true;
    if (x == "extern") {
      std::string replaced = t[i].before;
      if (size_t end = dynamic_shared(t, i, file_scope, replaced); end != i) {
        out += replaced;
        i = end;
        continue;
      }
    }
    if (x == "__shared__") {
      out += t[i].before + (body_of.empty() ? "cudasim_shared_plain" : "cudasim_shared_of(" + body_of + ")");
      if (!file_scope) arrays = declared(t, i, arrays_end);
      i++;
      continue;
    }
    if (x == "__global__" && file_scope) {
      size_t body;
      Kernel k = head(t, i, body);
      if (!k.name.empty() && !in_template) {
        if (known.insert(k.name).second) kernels.push_back(k);
        else if (k.bounds != "0")
          for (auto &other : kernels)
            if (other.name == k.name) other.bounds = k.bounds;
        if (body) {
          pending_body = body;
          pending = k;
        }
      }
    }
    if (x == "{") {
      bool transparent = false;
      if (file_scope && i > 0) {
        // extern "C" {, namespace {, namespace name {
        transparent = (t[i - 1].text[0] == '"' && i > 1 && t[i - 2].text == "extern") || t[i - 1].text == "namespace" ||
                      (i > 1 && t[i - 2].text == "namespace");
      }
      if (pending_body == i && i > 0) {
        body_of = pending.name;
        body_end = closing(t, i) - 1;
      }
      depth++;
      scope.push_back(!transparent);
      if (transparent) linkage_braces++;
    } else if (x == "}" && depth > 0) {
      depth--;
      if (!scope.back()) linkage_braces--;
      scope.pop_back();
      if (i == body_end) body_of.clear();
      if (depth == linkage_braces) in_template = false;
    } else if (x == ";" && file_scope) {
      in_template = false;
    }
    out += t[i].before + x;
    if (i == arrays_end) {
      for (auto &name : arrays) out += " cudasim_shared_array(" + name + ");";
      arrays.clear();
    }
    i++;
  }
  out += rest + "\n# 1 \"cudasim-entries\"\n";
  for (auto &k : kernels) out += "cudasim_section(" + k.name + ")\n";
  out += "static const cudasim_kernel cudasim_kernels[] = {\n";
  for (auto &k : kernels)
    out += "cudasim_describe(\"" + k.name + "\", " + k.name + ", __start_cudasim_shared_" + k.name + ", __stop_cudasim_shared_" +
           k.name + ", (int)(" + k.bounds + "), \"" + k.name + "\"),\n";
  for (size_t i = 0; i < source.expressions.size(); i++) {
    std::string e = source.expressions[i];
    if (!e.empty() && e[0] == '&') e.erase(0, 1);
    out += "cudasim_describe(\"" + lowered(i) + "\", (" + e + "), nullptr, nullptr, 0, nullptr),\n";
  }
  out += "{}};\n";
  out += "extern \"C\" __attribute__((used, visibility(\"default\"))) const cudasim_module_info cudasim_module = "
         "{&cudasim_now, &cudasim_rt, cudasim_kernels, " + std::to_string(kernels.size() + source.expressions.size()) + "};\n";
  out = "//std=" + source.standard + "\n" + (source.contract ? "" : "//fmad=false\n") + out;
  return true;
}

bool checks_races() {
  const char *check = getenv("CUDASIM_CHECK");
  if (!check || !*check) return false;
  if (strcmp(check, "races") != 0) {
    fprintf(stderr, "cudasim: CUDASIM_CHECK=%s is not races\n", check);
    abort();
  }
  return true;
}

std::string line_of(const std::string &object, uintptr_t offset) {
  Folder folder;
  if (folder.path.empty()) return "";
  std::string log = folder.file("line");
  char text[40];
  snprintf(text, sizeof text, "0x%llx", (unsigned long long)offset);
  if (run({"addr2line", "-s", "-e", object, text}, log) != 0) return "";
  std::string line = read_file(log);
  line = line.substr(0, line.find_first_of(" \n"));
  return line.find('?') == std::string::npos ? line : "";
}

bool build(const std::string &text, std::string &path, std::string &log) {
  const std::string prelude = read_file(home() + "/prelude.h"), shared = read_file(home() + "/kernel.h");
  if (prelude.empty() || shared.empty()) {
    log = "cudasim: prelude.h and kernel.h are not beside the library in " + home() + "\n";
    return false;
  }
  std::string standard = "c++17";
  if (size_t at = text.find("//std="); at != std::string::npos) standard = text.substr(at + 6, text.find('\n', at) - at - 6);
  if (standard < "c++17") standard = "c++17"; // the prelude needs it
  std::vector<std::string> flags = {"-std=" + standard, "-O2", "-fPIC", "-fno-builtin", "-fno-math-errno",
                                          "-fno-exceptions", "-fno-rtti", "-nostdinc", "-nostdinc++",
                                          "-fno-threadsafe-statics", "-fno-strict-aliasing",
                                          "-fsanitize=bounds", "-fno-diagnostics-show-caret", "-w"};
  // Across expressions, as NVRTC does. Where the processor has no fused multiply-add nothing is contracted, and fma and
  // its like are those of the C library: the same numbers, slowly.
  const bool contract = text.find("//fmad=false\n") == std::string::npos;
  if (checks_races())
    // Loops stay loops: a call of memset would be one access without a check. Lines are for messages.
    flags.insert(flags.end(), {"-fsanitize=thread", "-DCUDASIM_RACES=1", "-fno-tree-loop-distribute-patterns", "-g1", "-gdwarf-4"});
  flags.push_back(contract ? "-ffp-contract=fast" : "-ffp-contract=off");
  // What is known when it compiles is computed when the kernel runs: the compiler's own exp rounds otherwise than libm's,
  // and a number that one kernel reads and another knows would be two numbers.
  flags.push_back("-frounding-math");
#if defined(__x86_64__) || defined(__i386__)
  if (__builtin_cpu_supports("fma")) flags.push_back("-mfma");
#endif
  std::string all = compiler() + prelude + shared + text;
  for (auto &f : flags) all += f;
  char name[40];
  snprintf(name, sizeof name, "%016llx%016llx", (unsigned long long)hash(all), (unsigned long long)hash(all + "#"));
  path = cache() + "/" + name + ".so";
  if (access(path.c_str(), R_OK) == 0) return true;

  Folder folder;
  if (folder.path.empty()) {
    log = "cudasim: cannot make a temporary folder\n";
    return false;
  }
  std::string input = folder.file("module.cpp"), object = folder.file("module.o"), messages = folder.file("log");
  write_file(input, "#include \"" + home() + "/prelude.h\"\n" + text);
  std::vector<std::string> command = {compiler(), "-c", "-o", object, input};
  command.insert(command.end(), flags.begin(), flags.end());
  if (run(command, messages) != 0) {
    log = without(read_file(messages), folder.path + "/");
    return false;
  }
  // A name of this process's own, then a rename: another process may be at the same module.
  std::string partial = path + "." + std::to_string(getpid());
  if (run({compiler(), "-shared", "-Wl,-Bsymbolic", "-o", partial, object, "-lm"}, messages) != 0 ||
      rename(partial.c_str(), path.c_str()) != 0) {
    log = without(read_file(messages), folder.path + "/");
    if (log.empty()) log = "cudasim: cannot write " + path + ": " + strerror(errno) + "\n";
    unlink(partial.c_str());
    return false;
  }
  return true;
}

} // namespace cudasim
