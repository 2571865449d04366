// `train env`: what a bug report needs to say of the program and of the machine it runs on.
#include <sys/resource.h>
#include <sys/utsname.h>

#include <CLI/Version.hpp>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "framework/error.h"
#include "kernels/cpu/instruction_sets.h"
#include "kernels/cpu/workers.h"
#include "kernels/cuda/device.h"
#include "kernels/provider.h"
#include "train/options.h"
#include "train/report/group_limit.h"
#include "train/report/memory_report.h"
#include "train/report/streams.h"
#include "train/report/text_table.h"

namespace lethe {
namespace {

struct EnvFact {
  const char* name;
  std::string value;
};

std::string compiler() {
#if defined(__clang__)
  return message("clang ", __clang_major__, '.', __clang_minor__, '.', __clang_patchlevel__);
#else
  return message("gcc ", __GNUC__, '.', __GNUC_MINOR__, '.', __GNUC_PATCHLEVEL__);
#endif
}

std::string build() {
  std::string text = LETHE_BUILD_TYPE;
#if defined(__SANITIZE_ADDRESS__)
  text += ", sanitizers";
#endif
#if defined(LETHE_CHECK_PASSES)
  text += ", each memory pass verified";
#endif
  return text;
}

std::string cudnn_here() {
  if (!has_cuda()) return "no CUDA";
  try {
    return "cuDNN " + cudnn_version();
  } catch (const Error& error) {
    return error.what();
  }
}

std::string libraries() {
  std::string text = has_onednn() ? "oneDNN " + onednn_version() : "no oneDNN";
  text += ", " + cudnn_here();
#if defined(LETHE_HAS_MPI)
  text += ", MPI";
#else
  text += ", no MPI";
#endif
  return message(text, ", nlohmann/json ", NLOHMANN_JSON_VERSION_MAJOR, '.', NLOHMANN_JSON_VERSION_MINOR, '.',
                 NLOHMANN_JSON_VERSION_PATCH, ", CLI11 ", CLI11_VERSION);
}

/// What stands after `key` and a colon in a file of the system's; "unknown" if nothing does.
std::string told_by(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(key)) {
      const std::size_t from = line.find_first_not_of(" \t", line.find(':') + 1);
      return from == std::string::npos ? "" : line.substr(from);
    }
  return "unknown";
}

std::string system() {
  utsname names{};
  return uname(&names) == 0 ? message(names.sysname, ' ', names.release, ' ', names.machine) : "unknown";
}

std::string threads() {
  std::string text = std::to_string(processors());
  for (const char* name : {"OMP_NUM_THREADS", "OMP_WAIT_POLICY"})
    if (const char* value = std::getenv(name)) text.append(", ").append(name).append("=").append(value);
  return text;
}

std::optional<std::uint64_t> process_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

std::string limit_text(const std::optional<std::uint64_t>& limit) { return limit ? message(*limit, " bytes") : "none"; }

std::vector<EnvFact> env_facts() {
  std::string gpus = gpu_lines();
  gpus.pop_back();  // its last newline
  const char* const models = std::getenv("LETHE_MODELS");
  return {{"lethe", LETHE_VERSION},
          {"compiler", compiler()},
          {"build", build()},
          {"libraries", libraries()},
          {"system", system()},
          {"processor", told_by("/proc/cpuinfo", "model name")},
          {"features", instruction_sets()},
          {"products", cpu_provider()},
          {"threads", threads()},
          {"gpus", gpus},
          {"memory", told_by("/proc/meminfo", "MemTotal")},
          {"memory available", told_by("/proc/meminfo", "MemAvailable")},
          {"limit of control group", limit_text(group_limit())},
          {"limit of process", limit_text(process_limit())},
          {"LETHE_MODELS", models ? models : ""}};
}

std::string env_json() {
  nlohmann::ordered_json json;
  for (const EnvFact& fact : env_facts()) json[fact.name] = fact.value;
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string env_text() {
  TextRows rows;
  for (const EnvFact& fact : env_facts()) rows.push_back({fact.name, in_one_line(fact.value)});
  return text_table(rows, 2, "");
}

Run declare_env(OptionSet& set, Options&) {
  const auto json = std::make_shared<bool>(false);
  set.in("Output");
  set.add_flag("--json", *json, "The same as JSON");
  return [json](const Options&) {
    write_result("", *json ? env_json() : env_text());
    return 0;
  };
}

const RegisterCommand env_command{
    {.word = "env",
     .help = "Says what a bug report needs: version, libraries, processor, GPUs, threads, limits of memory.",
     .examples = {{"train env", "a line for each"}, {"train env --json", "the same, to be read by programs"}},
     .declare = declare_env}};

}  // namespace
}  // namespace lethe
