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
#include "kernels/cuda/tell_once.h"
#include "train/failure.h"
#include "train/options.h"
#include "train/ranks/mpi.h"
#include "train/report/option_names.h"
#include "train/report/streams.h"

namespace lethe {
namespace {

int run(const std::vector<std::string>& args) {
  const Options options = parse_options(args);
  if (!options.answer.empty()) {
    write_result("", options.answer);
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
    std::fprintf(stderr, "train: error: rank %lld: %s\n", static_cast<long long>(rank), failure.what.c_str());
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
  std::fprintf(stderr, "train: error: %s\n", failure.what.c_str());
  return static_cast<int>(failure.code);
}

/// While a worker waits for another one it should go to sleep soon: on a machine with other work, one that waits may
/// hold the processor that the other needs. GNU's OpenMP reads this as it is loaded, so the program starts once more.
/// What the user says of waiting stays.
void sleep_while_waiting([[maybe_unused]] char** argv) {
#if defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
  if (std::getenv("GOMP_SPINCOUNT") || std::getenv("OMP_WAIT_POLICY") || !argv[0]) return;
  char program[4096];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (length <= 0) return;
  program[length] = 0;
  const auto name_of = [](const char* path) { return std::strrchr(path, '/') ? std::strrchr(path, '/') + 1 : path; };
  if (std::strcmp(name_of(program), name_of(argv[0])) != 0) return;  // something else runs it, such as a debugger
  if (setenv("GOMP_SPINCOUNT", "5000", 0) != 0) return;              // a tenth of a millisecond
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
