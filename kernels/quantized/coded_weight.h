// A weight in few bits as the left factor of products on tensor cores, decoded in registers. In which order these see
// columns of the result and terms of its sums is free, so a lane has what lies together: with g and t of
// kernels/tensor_cores.h, of 32 columns those from 4 g to 4 g + 3, of 32 terms those from 8 t to 8 t + 7.
#pragma once
#include <type_traits>

#include "kernels/quantized/groups.h"
#include "kernels/tensor_cores.h"

#ifdef LETHE_DEVICE_CODE
namespace lethe {

/// Numbers that are there in T, as groups (groups.h).
template <class T>
struct PlainGroups {
  HD static constexpr std::int64_t size() { return 64; }
  HD CodeGroup group(const std::byte* memory, std::int64_t g) const {
    return {codes_at(memory + g * size() * static_cast<std::int64_t>(sizeof(T))), 1, 0};
  }
  HD static float value(const CodeGroup& of, std::int64_t i) { return reinterpret_cast<const T*>(of.codes)[i]; }
};

/// 32 columns by 32 terms, of which a product takes half of each lane's: the first or last terms, of the first or last
/// two columns.
struct DecodedTile {
  static constexpr int kColumns = 32, kTerms = 32;
  LeftTile at[2][2];
};

/// Rows of it in memory have all terms of a column if ByColumns, else one term of all columns. Their length is a
/// multiple of 64; in place of rows after the last it is read.
template <class T, class Groups, bool ByColumns>
struct CodedWeight {
  Groups groups;
  const std::byte* memory;
  int rows;
  std::int64_t groups_of_row;

  /// Of this lane, from its first column and term on.
  __device__ DecodedTile decoded(int column, int term) const {
    DecodedTile tile;
    const auto decode = [&](int i, int p, float first, float second) {  // terms 2 p and 2 p + 1 of column i
      tile.at[p / 2][i / 2].pairs[p % 2 * 2 + i % 2] = pair_of<T>(first, second);
    };
    LETHE_UNROLL
    for (int one = 0; one < 4; ++one) {
      const Run run = ByColumns ? run_of(column + one, term) : run_of(term + 2 * one, column);
      const Run next = ByColumns ? run : run_of(term + 2 * one + 1, column);
      LETHE_UNROLL
      for (int other = 0; other < 4; ++other) {
        if (ByColumns)
          decode(one, other, run.number(2 * other), run.number(2 * other + 1));
        else
          decode(other, one, run.number(other), next.number(other));
      }
    }
    return tile;
  }

 private:
  static constexpr unsigned kRun = ByColumns ? 8 : 4;  // numbers that lie together
  struct Run {
    CodeGroup group;
    unsigned first;  // in the group: a multiple of kRun, as the compiler sees
    __device__ float number(unsigned i) const { return Groups::value(group, first + i); }
  };
  /// What begins with number i of a row in memory.
  __device__ Run run_of(int at, int i) const {
    const std::int64_t row = at < rows ? at : rows - 1;
    if constexpr (std::is_same_v<Groups, Int8Groups>) {
      return {groups.group(memory, row), static_cast<unsigned>(i)};
    } else {
      constexpr unsigned kSize = static_cast<unsigned>(Groups::size());
      const unsigned runs = static_cast<unsigned>(i) / kRun;
      return {groups.group(memory, row * groups_of_row + runs / (kSize / kRun)), runs % (kSize / kRun) * kRun};
    }
  }
};

}  // namespace lethe
#endif
