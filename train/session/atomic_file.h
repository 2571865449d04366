// Files that other processes may want, too: one is written under a temporary name in its directory, brought to disk
// (fsync) and renamed, so that it is there as a whole or not at all; a directory is held by a run.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "framework/error.h"

namespace lethe {

/// A file that is there as a whole or not at all.
class AtomicFile {
 public:
  /// Waits while another process writes this file. Fails if something else than a plain file is there: a directory, a
  /// device.
  explicit AtomicFile(std::string file);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  /// Removes what was written, unless committed.
  ~AtomicFile();

  void write(const void* data, std::int64_t bytes);
  /// Writes over as many bytes at the beginning.
  void write_front(const void* data, std::int64_t bytes);
  /// Puts the new file in place of the old; from here on that holds, also after a power cut.
  void commit();

 private:
  [[noreturn]] void fail_with_errno(const char* doing) const;

  std::string file_, temporary_;
  int descriptor_ = -1;
};

/// Writes a whole file, as an AtomicFile does.
void replace_file(const std::string& file, std::string_view content);

enum class Busy { Waits, Fails };
/// Opens the file alone: gives its descriptor once no other process holds it (flock), which this one then does until it
/// closes that. -1, with errno, if it cannot be opened, or with EWOULDBLOCK if another holds it and `busy` is
/// Busy::Fails. On a file system without locks nothing keeps others away.
int open_alone(const std::string& path, int flags, Busy busy);
/// Turns what the file system refused into one line with path and reason: Exit::Data.
Error error_of(const std::filesystem::filesystem_error& error);
/// Brings a directory's entries to disk.
void sync_directory(const std::string& directory);
/// Makes the directory if need be and tries a file in it; fails with Exit::Usage in one line.
void check_writable(const std::string& directory);

/// One run at a time saves in a directory: holds the lock of DIR/.lock (flock). The file names the process and its
/// host. The system frees the lock when the process ends, in whatever way, so a file that is left over blocks nobody.
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
