// The gradient of the bias of linear_cross_entropy: sums of columns of the gradient of its logits.
#pragma once
#include "kernels/low_floats.h"

namespace lethe {

/// Adds some rows' gradients of logits up for W neighbouring columns, after the sums of the rows before.
template <class T, int W>
struct HeadBias {
  std::int64_t rows, classes, stride;
  const T* gradient;
  bool is_first, is_last;
  double* sums;
  T* dbias;
  HD void operator()(std::int64_t i) const {
    const std::int64_t begin = i * W, end = begin + W < classes ? begin + W : classes;
    Compute<T> here[W] = {};
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t c = begin; c < end; ++c) here[c - begin] += compute(gradient[row * stride + c]);
    for (std::int64_t c = begin; c < end; ++c) {
      const double sum = (is_first ? 0.0 : sums[c]) + static_cast<double>(here[c - begin]);
      sums[c] = sum;
      if (is_last) dbias[c] = static_cast<T>(sum);
    }
  }
};

}  // namespace lethe
