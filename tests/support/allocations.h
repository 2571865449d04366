// Counts what is asked of the heap, by anyone in the process: operator new, malloc, aligned memory.
#pragma once
#include <cstdint>

namespace lethe::testing {

/// Whether this build can count: not where a sanitizer has the allocator, nor without glibc.
bool can_count_allocations();
/// Calls that took memory since the process began.
std::int64_t allocations();

}  // namespace lethe::testing
