#include "train/session/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "framework/error.h"

namespace lethe {
namespace {

namespace fs = std::filesystem;

std::string directory_of(const std::string& file) {
  const fs::path parent = fs::path(file).parent_path();
  return parent.empty() ? "." : parent.string();
}

std::string hidden_beside(const std::string& file, const std::string& suffix) {
  const fs::path path(file);
  return (path.parent_path() / message('.', path.filename().string(), suffix)).string();
}

/// "process 4711 on host ada"
std::string this_process() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host.fill('\0');
  return message("process ", ::getpid(), " on host ", host.data());
}

/// Who wrote the file; nobody between taking the lock and writing.
std::string holder_in(int descriptor) {
  std::array<char, 320> text{};
  const ssize_t bytes = ::pread(descriptor, text.data(), text.size(), 0);
  const std::string holder(text.data(), bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  const std::string line = holder.substr(0, holder.find('\n'));
  return line.empty() ? "another process" : line;
}

/// 0, or the errno of a lock that cannot be had.
int locked(int descriptor, Busy busy) {
  int result = 0;
  do result = ::flock(descriptor, busy == Busy::Waits ? LOCK_EX : LOCK_EX | LOCK_NB);
  while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
}

}  // namespace

AtomicFile::AtomicFile(std::string file) : file_(std::move(file)), temporary_(hidden_beside(file_, ".new")) {
  // The rename would put a plain file in the place of a device such as /dev/null.
  std::error_code unknown;
  const fs::file_status there = fs::status(file_, unknown);
  check_as(Exit::Data, !fs::exists(there) || fs::is_regular_file(there), "cannot replace '", file_,
           "': it is no plain file");
  descriptor_ = open_alone(temporary_, O_WRONLY | O_CREAT, Busy::Waits);
  if (descriptor_ < 0) fail_with_errno("open");
  if (::ftruncate(descriptor_, 0) != 0) fail_with_errno("write");  // what a killed process has left
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::unlink(temporary_.c_str());  // while nobody else can have opened it for itself
  ::close(descriptor_);
}

void AtomicFile::write(const void* data, std::int64_t bytes) {
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor_, next, static_cast<std::size_t>(bytes));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_with_errno("write");
    next += written;
    bytes -= written;
  }
}

void AtomicFile::write_front(const void* data, std::int64_t bytes) {
  const off_t end = ::lseek(descriptor_, 0, SEEK_CUR);
  if (end < 0 || ::lseek(descriptor_, 0, SEEK_SET) < 0) fail_with_errno("write");
  write(data, bytes);
  if (::lseek(descriptor_, end, SEEK_SET) < 0) fail_with_errno("write");
}

void AtomicFile::commit() {
  if (::fsync(descriptor_) != 0) fail_with_errno("write");
  if (::rename(temporary_.c_str(), file_.c_str()) != 0) fail_with_errno("replace");
  ::close(descriptor_);
  descriptor_ = -1;
  sync_directory(directory_of(file_));
}

void AtomicFile::fail_with_errno(const char* doing) const {
  fail_as(Exit::Data, "cannot ", doing, " '", file_, "': ", std::strerror(errno));
}

void replace_file(const std::string& file, std::string_view content) {
  AtomicFile out(file);
  out.write(content.data(), std::ssize(content));
  out.commit();
}

int open_alone(const std::string& path, int flags, Busy busy) {
  for (;;) {
    const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
    if (descriptor < 0) return -1;
    if (locked(descriptor, busy) == EWOULDBLOCK) {
      ::close(descriptor);
      errno = EWOULDBLOCK;
      return -1;
    }
    struct stat own = {}, there = {};
    const bool is_there = ::fstat(descriptor, &own) == 0 && ::stat(path.c_str(), &there) == 0 &&
                          own.st_dev == there.st_dev && own.st_ino == there.st_ino;
    if (is_there) return descriptor;
    ::close(descriptor);  // who had it has renamed or removed it meanwhile
    if ((flags & O_CREAT) == 0) return errno = ENOENT, -1;
  }
}

Error error_of(const fs::filesystem_error& error) {
  return Error(message(quote(error.path1().string()), ": ", error.code().message()), Exit::Data);
}

void sync_directory(const std::string& directory) {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  check_as(Exit::Data, descriptor >= 0, "cannot open '", directory, "': ", std::strerror(errno));
  const bool synced = ::fsync(descriptor) == 0 || errno == EINVAL;  // some file systems have no such call
  const int error = errno;
  ::close(descriptor);
  check_as(Exit::Data, synced, "cannot write '", directory, "': ", std::strerror(error));
}

void check_writable(const std::string& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  check(!error, "cannot make directory '", directory, "': ", error.message());
  const std::string probe = (fs::path(directory) / message(".probe-", ::getpid())).string();
  const int descriptor = ::open(probe.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  check(descriptor >= 0, "cannot write in directory '", directory, "': ", std::strerror(errno));
  ::close(descriptor);
  ::unlink(probe.c_str());
}

RunLock::RunLock(const std::string& directory) {
  const std::string file = (std::filesystem::path(directory) / ".lock").string();
  descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  check(descriptor_ >= 0, "cannot open '", file, "': ", std::strerror(errno));
  const int error = locked(descriptor_, Busy::Fails);
  if (error == EWOULDBLOCK) {
    const std::string holder = holder_in(descriptor_);
    ::close(descriptor_);
    fail(directory, ": ", holder, " is training into it; wait for its end or save elsewhere");
  }
  if (error != 0) {
    trouble_ = message(directory, ": locks cannot be had there (", std::strerror(error),
                       "), so nothing keeps a second run from saving into it");
    return;
  }
  const std::string line = this_process() + "\n";
  errno = ENOSPC;  // what a write that ends early means, which sets none
  const bool written = ::ftruncate(descriptor_, 0) == 0 &&
                       ::pwrite(descriptor_, line.data(), line.size(), 0) == static_cast<ssize_t>(line.size());
  if (!written) trouble_ = message(file, ": cannot be written: ", std::strerror(errno));
}

RunLock::~RunLock() { ::close(descriptor_); }

}  // namespace lethe
