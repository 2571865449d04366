// Kernels of convolutions and products over memory that holds rubbish of three kinds, against f64; and shapes at random
// around the sizes of vectors and tiles, narrow images among them.
#pragma once
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "kernels/conv/conv.h"
#include "kernels/gemm/gemm.h"

namespace lethe::testing {

/// Inputs of a kernel that `dtype` has, and what an exact computation makes of them.
struct Expected {
  DType dtype, of_output;
  std::vector<std::vector<double>> inputs = {};
  std::vector<double> values = {}, magnitudes = {};  // magnitudes: the sums of those of the terms
};
Expected expected_of(ConvPass pass, const ConvShape& shape, DType dtype);
Expected expected_of(const GemmShape& shape, DType dtype);

/// "" if the kernel gives the values but for rounding, and the same bits whatever was in its outputs and workspace,
/// around its operands and in memory that it takes itself; else what it gives. Also "" if `make` gives none.
std::string wrong_over_rubbish(const Expected& expected, const std::function<std::unique_ptr<Kernel>()>& make);

/// Of 100,000 products at most.
ConvShape random_conv(std::mt19937& random);
GemmShape random_product(std::mt19937& random);

/// "2 of 70x59x63, a^T".
std::string described(const GemmShape& shape);

}  // namespace lethe::testing
