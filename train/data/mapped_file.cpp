#include "train/data/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "framework/error.h"
#include "train/data/data_files.h"

namespace lethe {

MappedFile::MappedFile(const std::string& path) {
  const auto size = static_cast<std::size_t>(size_of_file(path));
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  check_as(Exit::Data, descriptor >= 0, path, ": cannot be opened (", std::strerror(errno), ")");
  void* const begin = size == 0 ? nullptr : ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  const int error = errno;
  ::close(descriptor);
  check_as(Exit::Data, begin != MAP_FAILED, path, ": cannot be mapped (", std::strerror(error), ")");
  bytes_ = {static_cast<const std::byte*>(begin), size};
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace lethe
