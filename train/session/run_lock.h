// One run at a time saves in a directory.
#pragma once
#include <functional>
#include <string>

namespace lethe {

/// Holds the lock of DIR/.lock (flock). The file names the process and its host. The system frees the lock when the
/// process ends, in whatever way, so a file that is left over blocks nobody.
class RunLock {
 public:
  /// Fails with Exit::Usage, naming process and host, if another run has it. On a file system without locks, says so
  /// to `notify` and goes on without.
  RunLock(const std::string& directory, const std::function<void(const std::string& line)>& notify);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace lethe
