#include "train/session/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "framework/error.h"

namespace lethe {
namespace {

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

int locked(int descriptor) {
  int result = 0;
  do result = ::flock(descriptor, LOCK_EX | LOCK_NB);
  while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
}

}  // namespace

RunLock::RunLock(const std::string& directory) {
  const std::string file = (std::filesystem::path(directory) / ".lock").string();
  descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  check(descriptor_ >= 0, "cannot open '", file, "': ", std::strerror(errno));
  const int error = locked(descriptor_);
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
