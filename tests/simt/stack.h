// Stacks among which a thread goes to and fro. glibc's swapcontext would do, but asks the kernel for the signal mask at
// every switch, and AddressSanitizer's part of it then clears what it knows of the whole stack.
#pragma once
#include <cstddef>
#include <memory>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace lethe::simt {

class Stack {
 public:
  /// That of the caller, once it is left.
  Stack() = default;
  /// A new one, on which `entry` runs when it is gone to first. It must not return.
  Stack(std::size_t bytes, void (*entry)());
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;

  /// Leaves this one, on which the caller runs, and goes on with `next` where that was left. Returns when another stack
  /// is left for this one.
  void leave_for(Stack& next);

 private:
  static void begin();
  static void arrive(void* fake);

  std::unique_ptr<std::byte[]> memory_;
  const void* bottom_ = nullptr;  // the lowest address
  std::size_t bytes_ = 0;
  void (*entry_)() = nullptr;
#if defined(__x86_64__)
  void* left_at_ = nullptr;  // its pointer
#else
  ucontext_t left_at_ = {};
#endif
};

}  // namespace lethe::simt
