// Runs the built program as a user does.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace lethe::testing {

/// The result of a process.
struct Ended {
  int code = -1;  // exit code; -1 if a signal ended it
  int signal = 0;
  std::string out, err;
};

/// How a process is begun.
struct ProcessStart {
  std::int64_t file = 0, memory = 0;  // most bytes that it may write into one file and have in memory; 0: no limit
  std::function<void()> before = {};  // called in the new process, before it becomes the program
};

class TrainProcess {
 public:
  /// Starts `train ARGS`.
  explicit TrainProcess(const std::vector<std::string>& args, const ProcessStart& start = {});
  ~TrainProcess();
  TrainProcess(const TrainProcess&) = delete;
  TrainProcess& operator=(const TrainProcess&) = delete;

  pid_t id() const { return process_; }
  void send(int signal) const;
  /// Whether it has a handler of its own for the signal.
  bool catches(int signal) const;
  /// Processor time that it has used so far.
  double busy_seconds() const;
  Ended wait();
  /// Waits until `ready`; false if that takes more than a minute.
  static bool wait_until(const std::function<bool()>& ready);

 private:
  pid_t process_ = -1;
  std::string out_, err_;  // files
};

/// Runs it to its end.
Ended run_train(const std::vector<std::string>& args, const ProcessStart& start = {});
/// The file's bytes; "" if there is none.
std::string bytes_in(const std::string& file);

}  // namespace lethe::testing
