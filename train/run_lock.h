// One run at a time saves in a directory.
#pragma once
#include <functional>
#include <string>

namespace lethe {

/// Holds the lock of DIR/.lock (flock), in which stands who has it. The system lets go of it when the process ends, in
/// whatever way, so a file that a dead process or a machine's earlier life left locks nothing and is taken over.
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
