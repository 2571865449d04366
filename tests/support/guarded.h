// Memory between guards: what a kernel writes beside it is seen, and under AddressSanitizer what it reads there too.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace lethe::testing {

/// What unwritten memory holds: NaN in every float dtype, -1 in signed ones.
inline constexpr std::byte kUnwritten{0xFF};

class Guarded {
 public:
  /// `bytes` of memory, aligned to 64 and then `shift` bytes further, each `fill`.
  explicit Guarded(std::int64_t bytes, std::byte fill = kUnwritten);
  Guarded(Guarded&&) = default;
  Guarded& operator=(Guarded&&) = delete;
  ~Guarded();

  static inline std::int64_t shift = 0;  // of those made from now on

  void* data() const { return block_ ? block_.get() + front_ : nullptr; }
  std::int64_t bytes() const { return bytes_; }
  /// Whether nothing was written just before or after it.
  bool intact() const;
  bool holds_same(const Guarded& other) const;  // bit for bit
  void copy_from(const Guarded& other);

 private:
  static constexpr std::int64_t kGuard = 64;  // bytes in front, and at least as many after
  std::int64_t after() const { return kGuard + (kGuard - (front_ + bytes_) % kGuard) % kGuard; }
  void lock() const;
  void unlock() const;

  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::int64_t bytes_, front_ = kGuard + shift;
  std::unique_ptr<std::byte[], Free> block_;
};

}  // namespace lethe::testing
