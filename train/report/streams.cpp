#include "train/report/streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "framework/error.h"
#include "train/session/atomic_file.h"

namespace lethe {

void open_missing_streams() {
  // A file gets the lowest number that is free.
  int opened = ::open("/dev/null", O_RDWR);
  while (opened >= 0 && opened <= STDERR_FILENO) opened = ::open("/dev/null", O_RDWR);
  if (opened >= 0) ::close(opened);
}

void finish_output(int error) {
  const bool lost_before = std::ferror(stdout) != 0;
  const bool flushed = std::fflush(stdout) == 0;
  if (!flushed) error = errno;
  const std::string reason = error == 0 ? "" : message(": ", std::strerror(error));
  check_as(Exit::Data, flushed && !lost_before, "standard output cannot be written", reason);
}

void write_result(const std::string& file, const std::string& text) {
  if (file.empty()) {
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    return finish_output(written ? 0 : errno);
  }
  replace_file(file, text);
}

}  // namespace lethe
