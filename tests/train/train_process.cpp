#include "tests/train/train_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace lethe::testing {
namespace {

std::string scratch_file(const char* kind) {
  static std::atomic<int> number = 0;
  std::ostringstream name;
  name << ::testing::TempDir() << "lethe_" << getpid() << "_" << number++ << kind;
  return name.str();
}

void redirect(int descriptor, const std::string& file) {
  const int to = open(file.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  if (to < 0 || dup2(to, descriptor) < 0) _exit(126);
}

/// Becomes the program.
[[noreturn]] void become_train(const std::vector<std::string>& args, const ProcessStart& start) {
  for (const auto& [what, bytes] : {std::pair{RLIMIT_FSIZE, start.file}, {RLIMIT_AS, start.memory}}) {
    const rlimit limit{static_cast<rlim_t>(bytes), static_cast<rlim_t>(bytes)};
    if (bytes > 0 && setrlimit(what, &limit) != 0) _exit(125);
  }
  std::vector<char*> list = {const_cast<char*>("train")};
  for (const std::string& arg : args) list.push_back(const_cast<char*>(arg.c_str()));
  list.push_back(nullptr);
  execv(LETHE_TRAIN_BINARY, list.data());
  _exit(127);
}

}  // namespace

TrainProcess::TrainProcess(const std::vector<std::string>& args, const ProcessStart& start)
    : out_(scratch_file(".out")), err_(scratch_file(".err")) {
  process_ = fork();
  if (process_ != 0) return;
  redirect(STDOUT_FILENO, out_);
  redirect(STDERR_FILENO, err_);
  if (start.before) start.before();
  become_train(args, start);
}

TrainProcess::~TrainProcess() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  std::filesystem::remove(out_);
  std::filesystem::remove(err_);
}

void TrainProcess::send(int signal) const { EXPECT_EQ(kill(process_, signal), 0); }

bool TrainProcess::catches(int signal) const {
  std::ifstream status("/proc/" + std::to_string(process_) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("SigCgt:", 0) == 0) return (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1U) != 0;
  return false;
}

double TrainProcess::busy_seconds() const {
  clockid_t clock = {};
  timespec busy = {};
  EXPECT_EQ(clock_getcpuclockid(process_, &clock), 0);
  EXPECT_EQ(clock_gettime(clock, &busy), 0);
  return static_cast<double>(busy.tv_sec) + static_cast<double>(busy.tv_nsec) * 1e-9;
}

Ended TrainProcess::wait() {
  int status = 0;
  EXPECT_EQ(waitpid(process_, &status, 0), process_);
  process_ = -1;
  Ended ended{.out = bytes_in(out_), .err = bytes_in(err_)};
  if (WIFEXITED(status)) ended.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  return ended;
}

bool TrainProcess::wait_until(const std::function<bool()>& ready) {
  using namespace std::chrono_literals;
  for (const auto end = std::chrono::steady_clock::now() + 60s; std::chrono::steady_clock::now() < end;) {
    if (ready()) return true;
    std::this_thread::sleep_for(5ms);
  }
  return false;
}

Ended run_train(const std::vector<std::string>& args, const ProcessStart& start) {
  return TrainProcess(args, start).wait();
}

std::string bytes_in(const std::string& file) {
  std::ostringstream all;
  all << std::ifstream(file, std::ios::binary).rdbuf();
  return all.str();
}

}  // namespace lethe::testing
