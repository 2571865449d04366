// What a GPU does with a weight in few bits, as plain functions: nvcc reads their source.
#pragma once
#include <algorithm>

#include "kernels/quantized/groups.h"

namespace lethe {

/// As convert_numbers() of kernels/quantized/dequantize.h, on the stream.
void launch_converted(void* stream, const BlockedWeight& x, const void* memory, std::int64_t first, std::int64_t count,
                      DType to, void* values);

/// c[m, n] = a[m, k] b, and then a bias[n] unless that is null, in bf16 or f16. Rows of a and c are so far apart; b is
/// the weight, [n, k] in memory if `transpose_b`, else [k, n].
struct CodedProductShape {
  std::int64_t m, n, k, row_a, row_c;
  bool transpose_b;
  /// Whether rows of the weight are as many whole steps of 64 numbers, and those of a and c begin with whole packs.
  bool is_whole() const {
    return std::max(n, k) < 1 << 30 && (transpose_b ? k : n) % 64 == 0 && row_a % 8 == 0 && row_c % 4 == 0;
  }
};

/// One that is whole (coded_product.h). The weight is in blocks, or a copy in `dtype`: the bits are the same.
void launch_coded_product(void* stream, const CodedProductShape& shape, DType dtype, const BlockedWeight& weight,
                          const void* memory, const void* a, const void* bias, void* c);

}  // namespace lethe
