#include "tests/support/guarded.h"

#include <algorithm>
#include <cstring>

#include "framework/error.h"
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace lethe::testing {
namespace {

constexpr std::byte kGuardByte{0xA5};

bool all_guard(const std::byte* from, std::int64_t bytes) {
  return std::all_of(from, from + bytes, [](std::byte b) { return b == kGuardByte; });
}

}  // namespace

Guarded::Guarded(std::int64_t bytes, std::byte fill) : bytes_(bytes) {
  const auto size = static_cast<std::size_t>(front_ + bytes_ + after());
  block_.reset(static_cast<std::byte*>(std::aligned_alloc(kGuard, size)));
  check_as(Exit::Internal, block_ != nullptr, "tests: no memory for ", bytes, " bytes");
  std::memset(block_.get(), static_cast<int>(kGuardByte), size);
  std::memset(data(), static_cast<int>(fill), static_cast<std::size_t>(bytes_));
  lock();
}

Guarded::~Guarded() {
  if (block_) unlock();
}

bool Guarded::intact() const {
  unlock();
  const bool intact = all_guard(block_.get(), front_) && all_guard(block_.get() + front_ + bytes_, after());
  lock();
  return intact;
}

bool Guarded::holds_same(const Guarded& other) const {
  return bytes_ == other.bytes_ && std::memcmp(data(), other.data(), static_cast<std::size_t>(bytes_)) == 0;
}

void Guarded::copy_from(const Guarded& other) {
  std::memcpy(data(), other.data(), static_cast<std::size_t>(std::min(bytes_, other.bytes_)));
}

void Guarded::lock() const {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_POISON_MEMORY_REGION(block_.get(), static_cast<std::size_t>(front_));
  ASAN_POISON_MEMORY_REGION(block_.get() + front_ + bytes_, static_cast<std::size_t>(after()));
#endif
}

void Guarded::unlock() const {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(block_.get(), static_cast<std::size_t>(front_ + bytes_ + after()));
#endif
}

}  // namespace lethe::testing
