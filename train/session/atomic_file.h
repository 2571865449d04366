// A file that is there as a whole or not at all: written under a temporary name in its directory, brought to disk
// (fsync), renamed.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "framework/error.h"

namespace lethe {

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
  /// In the place of as many bytes at the beginning.
  void write_front(const void* data, std::int64_t bytes);
  /// From here on the file is the new one, also after a power cut.
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
/// What the file system refused, as one line with path and reason: Exit::Data.
Error error_of(const std::filesystem::filesystem_error& error);
/// Brings a directory's entries to disk.
void sync_directory(const std::string& directory);
/// Makes the directory if need be and tries a file in it; fails with Exit::Usage in one line.
void check_writable(const std::string& directory);

}  // namespace lethe
