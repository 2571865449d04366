// What is done to the elements of a product or a convolution before they are written.
#pragma once
#include <memory>

#include "framework/language/kernel.h"

namespace lethe {

/// y = relu(y + bias), a bias for each column, or a part of that; or y gelu'(x), as TanhGeluGrad, x of y's shape.
struct Epilogue {
  bool bias = false, relu = false, gelu_grad = false;
  bool is_empty() const { return *this == Epilogue{}; }
  bool takes_input() const { return bias || gelu_grad; }
  bool operator==(const Epilogue&) const = default;
};

struct EpilogueRows {
  std::int64_t rows, columns;
  std::int64_t gap = 0;  // elements in memory from the end of a row to the next; with gelu_grad there is none
};

/// A kernel of results [rows, columns], its output 0, that leaves the epilogue to us: done in a pass of its own, with
/// the bias or x in input 2.
std::unique_ptr<Kernel> with_epilogue(std::unique_ptr<Kernel> kernel, const Epilogue& epilogue,
                                      const EpilogueRows& rows, DType dtype, const DeviceInfo& device);

}  // namespace lethe
