// What rows see of a tile of keys, or keys of a tile of rows, on tensor cores (tensor_cores.h).
#pragma once
#include "kernels/attention/shape.h"
#include "kernels/tensor_cores.h"

#ifdef LETHE_DEVICE_CODE
namespace lethe {

/// What a warp's 16 positions see on the other side: any of them, and each of a lane's two, lane / 4 and 8 more.
struct Sight {
  int first, last, of_lane[2][2];

  __device__ static Sight of_rows(const AttentionShape& s, int row, const SampleKeys& of) {
    const int at = row + static_cast<int>(threadIdx.x % 32 / 4);
    return {row < s.rows ? s.keys_of_rows(row, row + 16, of) : Positions{0, 0}, s.keys_of(at, of),
            s.keys_of(at + 8, of)};
  }
  __device__ static Sight of_keys(const AttentionShape& s, int key, const SampleKeys& of) {
    const int at = key + static_cast<int>(threadIdx.x % 32 / 4);
    return {s.rows_of_keys(key, key + 16, of), s.rows_of(at, of), s.rows_of(at + 8, of)};
  }

  __device__ bool any(int from, int count) const { return from < last && from + count > first; }
  /// Gives a value to those sums of a tile, whose columns are positions from `from` on, that are not seen.
  template <int N>
  __device__ void hide(SumTile (&tile)[N], int from, float value) const {
    if (of_lane[0][0] <= from && of_lane[1][0] <= from && of_lane[0][1] >= from + 8 * N &&
        of_lane[1][1] >= from + 8 * N)
      return;
    for (int n = 0; n < N; ++n)
      for (int i = 0; i < 4; ++i) {
        const int at = from + 8 * n + static_cast<int>(threadIdx.x % 4) * 2 + i % 2;
        if (at < of_lane[i / 2][0] || at >= of_lane[i / 2][1]) tile[n].at[i] = value;
      }
  }

 private:
  __device__ Sight(const Positions& any, const Positions& one, const Positions& other)
      : first(static_cast<int>(any.first)),
        last(static_cast<int>(any.last)),
        of_lane{{static_cast<int>(one.first), static_cast<int>(one.last)},
                {static_cast<int>(other.first), static_cast<int>(other.last)}} {}
};

}  // namespace lethe
#endif
