// What is installed as `lethe`. What computes is compiled for several levels of x86-64 (cmake/LetheLevels.cmake), each
// level a program in a folder of its own; this one starts the best that the processor can run. It is compiled for any
// x86-64 itself, so that an older processor gets a line, not an illegal instruction. LETHE_LEVEL names another level.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "framework/error.h"
#include "framework/program_name.h"
#include "train/waiting.h"

namespace {

struct Level {
  const char* name;
  bool fits;  // this processor, and its system saves the registers
};

#if defined(__x86_64__) && !defined(__clang__)
bool has_v3() { return __builtin_cpu_supports("x86-64-v3"); }
bool has_v4() { return __builtin_cpu_supports("x86-64-v4"); }
bool has_v4_with_bf16() {
  return has_v4() && __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vnni");
}
#elif defined(__x86_64__)  // clang 14 knows no levels
bool has_v3() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}
bool has_v4() {
  return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
bool has_v4_with_bf16() {
  return has_v4() && __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vnni");
}
#else
bool has_v3() { return false; }
bool has_v4() { return false; }
bool has_v4_with_bf16() { return false; }
#endif

std::string folder_of_this() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  const std::string file(path, length > 0 ? static_cast<std::size_t>(length) : 0);
  return file.substr(0, file.rfind('/') + 1);  // empty if /proc is not there
}

int complain(const std::string& what) {
  std::fprintf(stderr, "%s: error: %s\n", lethe::program_name(), what.c_str());
  return static_cast<int>(lethe::Exit::Device);
}

}  // namespace

int main(int, char** argv) {
  const Level levels[] = {
      {"native", true}, {"avx512-bf16", has_v4_with_bf16()}, {"x86-64-v4", has_v4()}, {"x86-64-v3", has_v3()}};
  std::string folder = folder_of_this();
  if (folder.empty()) return complain("/proc does not say where this program is");
  folder += LETHE_LEVELS_FROM_BIN "/";
  const char* wanted = std::getenv("LETHE_LEVEL");
  if (wanted && !*wanted) wanted = nullptr;
  std::string there;
  lethe::ask_to_sleep_while_waiting();
  for (const char* kind : {"cuda-", ""})  // the first has device code, too: a package of its own
    for (const Level& level : levels) {
      const std::string name = std::string(kind) + level.name, program = folder + name + "/train";
      if (access(program.c_str(), X_OK) != 0) continue;
      there += (there.empty() ? "" : ", ") + name;
      if (!level.fits || (wanted && name != wanted)) continue;
      execv(program.c_str(), argv);
      return complain(program + ": " + std::strerror(errno));
    }
  if (there.empty()) return complain("the program itself is not in " + folder + "; is it wholly installed?");
  if (wanted)
    return complain(std::string("LETHE_LEVEL=") + wanted +
                    ": no such level, or not one that this processor runs; there are " + there);
  return complain("this processor has no AVX2 (x86-64-v3), for which it is compiled (" + there +
                  "); build it here: ./dev build");
}
