// The command line: reads it, runs the command, says in one line what went wrong.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "framework/error.h"
#include "framework/program_name.h"
#include "kernels/cuda/tell_once.h"
#include "train/failure.h"
#include "train/options.h"
#include "train/ranks/mpi.h"
#include "train/report/option_names.h"
#include "train/report/streams.h"
#include "train/waiting.h"

namespace lethe {
namespace {

int run(const std::vector<std::string>& args) {
  const Options options = parse_options(args);
  if (!options.answer.empty()) {
    write_result("", as_called(options.answer));
    return 0;
  }
  check(options.facts.trains || !number_by_mpi(),
        "mpirun is for training; of anything else one process does it all: start it without");
  const int code = options.run(options);
  finish_output();
  return code;
}

/// Joining never ends where the first rank has ended without it and nobody ends the others, as Slurm's srun may not:
/// then a rank says itself, after a while, what went wrong.
void end_unless_joined(const Failure& failure, std::int64_t rank) {
  std::thread([=] {
    std::this_thread::sleep_for(std::chrono::seconds(15));
    std::fprintf(stderr, "%s: error: rank %lld: %s\n", program_name(), static_cast<long long>(rank),
                 failure.what.c_str());
    std::_Exit(static_cast<int>(failure.code));
  }).detach();
}

/// What no rank can do, the first of them says, and mpirun ends the others when that one has ended. What another one
/// alone cannot do it says itself, once all have come together.
int complain(const Failure& failure) {
  if (const std::int64_t rank = number_by_mpi().value_or(0); rank != 0) {
    end_unless_joined(failure, rank);
    try {
      MpiWorld().fail(failure.what, failure.code);
    } catch (const Error&) {  // they cannot: this program knows no MPI, or all have parted
      std::this_thread::sleep_for(std::chrono::seconds(1));
    }
  }
  std::fprintf(stderr, "%s: error: %s\n", program_name(), failure.what.c_str());
  return static_cast<int>(failure.code);
}

/// OpenMP reads how its workers wait as it is loaded, so the program starts once more.
void sleep_while_waiting([[maybe_unused]] char** argv) {
#if defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
  char program[4096];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (length <= 0 || !argv[0]) return;
  program[length] = 0;
  const auto name_of = [](const char* path) { return std::strrchr(path, '/') ? std::strrchr(path, '/') + 1 : path; };
  if (std::strcmp(name_of(program), name_of(argv[0])) != 0) return;  // something else runs it, such as a debugger
  if (ask_to_sleep_while_waiting())
    execv(program, argv);  // returns if it cannot be: then they wait as they are used to
#endif
}

}  // namespace
}  // namespace lethe

int main(int argc, char** argv) {
  lethe::sleep_while_waiting(argv);
  lethe::open_missing_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // a file size limit is an error of the write, like a full disk
  lethe::tell_to(lethe::say);
  try {
    return lethe::run({argv + 1, argv + argc});
  } catch (...) {
    return lethe::complain(lethe::failure_of(std::current_exception()));
  }
}
