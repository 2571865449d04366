// Runs the built program as a user does.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace lethe::testing {

/// What a process left.
struct Ended {
  int code = -1;  // exit code; -1 if a signal ended it
  int signal = 0;
  std::string out, err;
};

class TrainProcess {
 public:
  /// Starts `train ARGS`; `file_limit`: most bytes it may write into one file (0: no limit); `before` is called in the
  /// new process, before it becomes the program.
  explicit TrainProcess(const std::vector<std::string>& args, std::int64_t file_limit = 0,
                        const std::function<void()>& before = {});
  ~TrainProcess();
  TrainProcess(const TrainProcess&) = delete;
  TrainProcess& operator=(const TrainProcess&) = delete;

  pid_t id() const { return process_; }
  void send(int signal) const;
  Ended wait();
  /// Waits until `ready`; false if that takes more than a minute.
  static bool wait_until(const std::function<bool()>& ready);

 private:
  pid_t process_ = -1;
  std::string out_, err_;  // files
};

/// Runs it to its end.
Ended run_train(const std::vector<std::string>& args, const std::function<void()>& before = {});
/// The file's bytes; "" if there is none.
std::string bytes_in(const std::string& file);

}  // namespace lethe::testing
