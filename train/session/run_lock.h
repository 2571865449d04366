// One run at a time saves in a directory.
#pragma once
#include <string>

namespace lethe {

/// Holds the lock of DIR/.lock (flock). The file names the process and its host. The system frees the lock when the
/// process ends, in whatever way, so a file that is left over blocks nobody.
class RunLock {
 public:
  /// Fails with Exit::Usage, naming process and host, if another run has it.
  explicit RunLock(const std::string& directory);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  /// Why nothing keeps a second run out, or why the file does not name this one; "" as a rule.
  const std::string& trouble() const { return trouble_; }

 private:
  int descriptor_ = -1;
  std::string trouble_;
};

}  // namespace lethe
