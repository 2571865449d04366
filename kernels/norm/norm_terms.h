// What the gradients of weight and bias of a norm of rows (row_norm.h) sum over the rows.
#pragma once
#include <array>
#include <cstdint>

#include "kernels/hd.h"

namespace lethe {

/// Of an element, for the gradients of weight and, if the rows were centred, bias: dy * (x - mean) * inverse, and dy.
template <bool kCentred, class C>
HD std::array<C, kCentred ? 2 : 1> norm_terms(C x, C dy, C mean, C inverse) {
  if constexpr (kCentred)
    return {dy * ((x - mean) * inverse), dy};
  else
    return {dy * (x * inverse)};
}

/// Sums nothing: another pass does.
struct NoNormSums {
  template <class Index, class F>
  HD void add(Index, const F&) const {}
};

/// The sums that each piece of the rows has, [pieces, K, length], as what another sum adds up.
template <class C, int K>
struct PieceTerms {
  const C* sums;
  std::int64_t length;
  HD std::array<C, K> operator()(std::int64_t piece, std::int64_t i, const std::array<C, 0>&) const {
    std::array<C, K> terms{};
    for (int k = 0; k < K; ++k) terms[k] = sums[(piece * K + k) * length + i - piece * length];
    return terms;
  }
};

}  // namespace lethe
