#include "tests/simt/stack.h"

#include <cstdint>
#include <cstring>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

#if defined(__x86_64__)
// Keeps what a callee must keep (System V ABI, AMD64 supplement, 3.2.1) on the stack that is left, and its pointer in
// *left; takes the same from the other one. Control words of floats stay those of the thread.
extern "C" void lethe_simt_switch(void** left, void* next);
asm(R"(
  .text
  .globl lethe_simt_switch
  .type lethe_simt_switch, @function
lethe_simt_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size lethe_simt_switch, .-lethe_simt_switch
)");
#endif

namespace lethe::simt {
namespace {

thread_local Stack* leaving = nullptr;  // in the last switch
thread_local Stack* arriving = nullptr;

}  // namespace

Stack::Stack(std::size_t bytes, void (*entry)())
    : memory_(std::make_unique_for_overwrite<std::byte[]>(bytes)),
      bottom_(memory_.get()),
      bytes_(bytes),
      entry_(entry) {
#if defined(__x86_64__)
  // As a call of begin leaves it: six registers, where to go, and an end for who walks the stack.
  const auto top = (reinterpret_cast<std::uintptr_t>(memory_.get()) + bytes) / 16 * 16;
  void* words[8] = {};
  words[6] = reinterpret_cast<void*>(&Stack::begin);
  left_at_ = reinterpret_cast<void*>(top - sizeof words);
  std::memcpy(left_at_, words, sizeof words);
#else
  getcontext(&left_at_);
  left_at_.uc_stack.ss_sp = memory_.get();
  left_at_.uc_stack.ss_size = bytes;
  left_at_.uc_link = nullptr;
  makecontext(&left_at_, &Stack::begin, 0);
#endif
}

void Stack::begin() {
  arrive(nullptr);
  arriving->entry_();
}

/// AddressSanitizer says where the stack is that was left: of the first one nobody else knows.
void Stack::arrive([[maybe_unused]] void* fake) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake, &leaving->bottom_, &leaving->bytes_);
#endif
}

void Stack::leave_for(Stack& next) {
  void* fake = nullptr;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&fake, next.bottom_, next.bytes_);
#endif
  leaving = this;
  arriving = &next;
#if defined(__x86_64__)
  lethe_simt_switch(&left_at_, next.left_at_);
#else
  swapcontext(&left_at_, &next.left_at_);
#endif
  arrive(fake);
}

}  // namespace lethe::simt
