// Sums of a weight gradient, one for each piece of the work: the first in the output itself, the others in a workspace.
#pragma once
#include "kernels/cpu/parallel.h"
#include "kernels/workspace.h"

namespace lethe {

template <class T>
struct PieceSums {
  std::int64_t weights = 0, pieces = 1;

  std::int64_t bytes_of_one() const { return aligned(weights * std::int64_t{sizeof(T)}); }
  /// Of those in the workspace.
  std::int64_t bytes() const { return (pieces - 1) * bytes_of_one(); }

  /// `others`: where in the workspace they begin.
  T* at(T* output, void* others, std::int64_t piece) const {
    return piece == 0 ? output : reinterpret_cast<T*>(static_cast<char*>(others) + (piece - 1) * bytes_of_one());
  }

  /// Adds the others to the output, in their order.
  void add_up(T* output, void* others) const {
    if (pieces == 1) return;
    parallel_ranges(weights, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t piece = 1; piece < pieces; ++piece) {
        const T* const sum = at(output, others, piece);
        for (std::int64_t i = begin; i < end; ++i) output[i] += sum[i];
      }
    });
  }
};

}  // namespace lethe
