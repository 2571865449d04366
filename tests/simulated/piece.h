// Memory of a simulated GPU, which is open to its work and else to nobody.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "tests/simulated/gpu.h"

namespace lethe::simulated {

inline constexpr int kPoison = 0xFF;  // NaN in every float dtype

inline std::size_t round_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }
inline std::size_t page() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

/// Ends, but for what an alignment of 256 bytes leaves, where the host has no page: what lies after is out of bounds.
struct Gpu::Piece {
  static constexpr std::size_t kAlignment = 256;

  explicit Piece(std::size_t bytes) : bytes(bytes), pages(round_up(std::max<std::size_t>(bytes, 1), page())) {
    void* const mapped = mmap(nullptr, pages + 2 * page(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw Refusal::MemoryAllocation;
    open_from = static_cast<std::byte*>(mapped) + page();
    first = open_from + pages - round_up(bytes, kAlignment);
    open(true);
    std::memset(first, kPoison, bytes);
  }
  ~Piece() { munmap(open_from - page(), pages + 2 * page()); }
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;

  void open(bool open) const { mprotect(open_from, pages, open ? PROT_READ | PROT_WRITE : PROT_NONE); }

  std::size_t bytes, pages;
  std::byte *open_from, *first;
};

}  // namespace lethe::simulated
