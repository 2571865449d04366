// The products of a loss over a layer's outputs (ops/linear_cross_entropy.cpp) for some rows: their logits, and from
// the gradient of these, which stands in their place, those of the layer's weight and input.
#pragma once
#include <string>
#include <vector>

#include "kernels/gemm/gemm.h"

namespace lethe {

struct HeadProductSizes {
  std::int64_t rows, width, classes;
  std::int64_t stride;     // of rows of logits in memory
  DType of_weight;         // a CPU's products in f32 widen one in fewer bits
  bool in_blocks;          // as prepare_weight_product says
  bool bias, dweight, dx;  // what there is, and what is to be given
  bool wide_dweight;       // in f32 where the rest is bf16 or f16
  bool adds_dweight;       // to what is there
};

/// Rows of logits [rows, stride] that are there at a time: of shapes alone. Their products should be worth their passes
/// over the weight and its gradient, so on a GPU there are up to twice as many where that is an eighth of all at most:
/// then what a step keeps of so many rows is much more. There they are whole tiles of products, and begin where
/// cuBLASLt expects a matrix.
std::int64_t rows_of_logits_at_once(std::int64_t rows, std::int64_t stride, DType dtype, DeviceKind kind);

/// x is [rows, width], logits [rows, classes], weight and its gradient [classes, width]. The workspace of the arguments
/// is for a product.
class HeadProducts {
 public:
  HeadProducts(const HeadProductSizes& sizes, DType dtype, const DeviceInfo& device);

  std::int64_t workspace_bytes() const;
  std::string implementation() const { return parts_.back().logits->implementation(); }

  void give_logits(const KernelArgs& args, const void* x, const void* weight, const void* bias, void* logits) const;
  /// Those that the sizes ask for. dx may stand in the memory of x.
  void give_gradients(const KernelArgs& args, const void* logits, const void* x, const void* weight, void* dweight,
                      void* dx) const;

 private:
  /// Of some of the classes.
  struct Part {
    std::int64_t first, classes;
    std::unique_ptr<Kernel> logits, dx, dweight;
  };
  std::vector<Part> parts_of_classes(DeviceKind kind) const;

  HeadProductSizes sizes_;
  std::int64_t element_, weight_element_, dweight_element_;  // bytes
  std::vector<Part> parts_;
};

}  // namespace lethe
