#include "train/streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "framework/error.h"

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

}  // namespace lethe
