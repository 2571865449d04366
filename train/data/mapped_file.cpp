#include "train/data/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <utility>

#include "framework/error.h"
#include "train/data/data_files.h"

namespace lethe {

/// Is read within a handler of signals, so it stays for ever once it was made, and is used again.
struct MappedFile::Place {
  std::atomic<std::uintptr_t> begin = 0, end = 0;
  std::atomic<bool> taken = true, lost = false;
  Place* next = nullptr;
};

namespace {

using MappedPlace = MappedFile::Place;

std::atomic<MappedPlace*> first_place = nullptr;
struct sigaction bus_action_before = {};
std::uintptr_t page_bytes = 0;

/// Puts zeros where the file has no bytes any more, so that whoever reads them goes on to check_whole(). A signal of
/// another cause ends the process, or whatever was to happen then.
void lose_pages(int signal, siginfo_t* info, void*) {
  const int error = errno;
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (MappedPlace* place = info->si_code > 0 ? first_place.load() : nullptr; place; place = place->next) {
    const std::uintptr_t end = place->end;
    if (at < place->begin || at >= end) continue;
    const std::uintptr_t page = at / page_bytes * page_bytes;
    place->lost = true;
    if (::mmap(reinterpret_cast<void*>(page), end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
        MAP_FAILED)
      break;
    errno = error;
    return;
  }
  ::sigaction(signal, &bus_action_before, nullptr);
  if (info->si_code <= 0) ::raise(signal);  // else the read that caused it does so once more
}

MappedPlace* take_place(std::span<const std::byte> bytes) {
  static std::once_flag installed;
  std::call_once(installed, [] {
    page_bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    struct sigaction action = {};
    action.sa_sigaction = lose_pages;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGBUS, &action, &bus_action_before);
  });
  MappedPlace* place = first_place;
  while (place && place->taken.exchange(true)) place = place->next;
  if (!place) {
    place = new MappedPlace;
    place->next = first_place;
    while (!first_place.compare_exchange_weak(place->next, place)) {
    }
  }
  place->lost = false;
  place->begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  place->end = place->begin + bytes.size();
  return place;
}

void give_place_back(MappedPlace* place) {
  place->end = 0;
  place->taken = false;
}

}  // namespace

MappedFile::MappedFile(const std::string& path) : path_(path) {
  const auto size = static_cast<std::size_t>(size_of_file(path));
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  check_as(Exit::Data, descriptor_ >= 0, path, ": cannot be opened (", std::strerror(errno), ")");
  void* const begin = size == 0 ? nullptr : ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor_, 0);
  if (begin == MAP_FAILED) {
    const int error = errno;
    ::close(descriptor_);
    fail_as(Exit::Data, path, ": cannot be mapped (", std::strerror(error), ")");
  }
  bytes_ = {static_cast<const std::byte*>(begin), size};
  if (size > 0) place_ = take_place(bytes_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      bytes_(std::exchange(other.bytes_, {})),
      place_(std::exchange(other.place_, nullptr)) {}

MappedFile::~MappedFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!place_) return;
  give_place_back(place_);
  ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void MappedFile::check_whole() const {
  struct stat now = {};  // no signal tells of what is cut off within a page: zeros stand there at once
  const bool whole = ::fstat(descriptor_, &now) == 0 && now.st_size >= std::ssize(bytes_);
  check_as(Exit::Data, whole && (!place_ || !place_->lost), path_,
           ": was cut, or could not be read any more, while it was in use");
}

}  // namespace lethe
