#include "tests/support/allocations.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define LETHE_COUNTS_ALLOCATIONS 1
#endif

namespace lethe::testing {
namespace {
std::atomic<std::int64_t> count{0};
}  // namespace

std::int64_t allocations() { return count.load(); }

#ifdef LETHE_COUNTS_ALLOCATIONS
bool can_count_allocations() { return true; }
void count_allocation() { count.fetch_add(1, std::memory_order_relaxed); }
#else
bool can_count_allocations() { return false; }
#endif

}  // namespace lethe::testing

#ifdef LETHE_COUNTS_ALLOCATIONS
// glibc's own functions under the names that it keeps for programs which put themselves before them. The program's
// definitions hold for its shared libraries too; operator new comes here through malloc.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) noexcept {
  lethe::testing::count_allocation();
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  lethe::testing::count_allocation();
  return __libc_calloc(count, size);
}
void* realloc(void* memory, std::size_t size) noexcept {
  lethe::testing::count_allocation();
  return __libc_realloc(memory, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  lethe::testing::count_allocation();
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) noexcept {
  lethe::testing::count_allocation();
  *memory = __libc_memalign(alignment, size);
  return *memory || size == 0 ? 0 : ENOMEM;
}
}
#endif
