#include "kernels/gemm/weight_blocks.h"

#include <algorithm>
#include <vector>

#include "framework/error.h"
#include "kernels/gemm/column_blocks.h"
#include "kernels/gemm/wide_parts.h"
#include "kernels/workspace.h"

namespace lethe {
namespace {

constexpr std::int64_t kMostWidened = std::int64_t{1} << 20;  // elements of b
constexpr std::int64_t kWeightRowGrain = 64;                  // a block has a multiple of so many

std::int64_t rows_in_memory(const GemmShape& s) { return s.transpose_b ? s.n : s.k; }
std::int64_t row_in_memory(const GemmShape& s) { return s.transpose_b ? s.k : s.n; }

std::int64_t weight_rows_at_a_time(const GemmShape& s) {
  const std::int64_t row = std::max<std::int64_t>(row_in_memory(s), 1);
  return std::max<std::int64_t>(kMostWidened / row / kWeightRowGrain, 1) * kWeightRowGrain;
}

bool can_be_cut(const GemmShape& s) {
  return s.batch == 1 && !s.transpose_a && s.is_dense() && !s.accumulate && (s.transpose_b || s.epilogue.is_empty());
}

/// Rows of b are columns of c if b is transposed, else terms of all of c.
GemmShape with_weight_rows(GemmShape s, std::int64_t first, std::int64_t rows) {
  if (rows == rows_in_memory(s)) return s;
  if (s.transpose_b)
    s.stride_c = s.n, s.n = rows;
  else
    s.stride_a = s.k, s.k = rows, s.accumulate = first > 0;
  return s;
}

class InWeightBlocks final : public Kernel {
 public:
  InWeightBlocks(const GemmShape& s, DType of_weight, const DeviceInfo& device) : s_(s), of_weight_(of_weight) {
    const std::int64_t all = rows_in_memory(s), most = std::min(weight_rows_at_a_time(s), all);
    std::int64_t inner = 0;
    for (std::int64_t first = 0; first < all; first += most) {
      const std::int64_t rows = std::min(most, all - first);
      // Equal products are those of the block before.
      const bool again = blocks_.size() > 1 && blocks_.back().rows == rows;
      blocks_.push_back(
          {first, rows,
           again ? blocks_.back().product : prepare_gemm(with_weight_rows(s, first, rows), DType::f32, device)});
      inner = std::max(inner, blocks_.back().product->workspace_bytes());
    }
    widened_ = layout_.add_array<float>(of_weight == DType::f32 ? 0 : most * row_in_memory(s));
    inner_ = layout_.add(inner);
  }

  std::int64_t workspace_bytes() const override { return layout_.bytes(); }
  std::string implementation() const override {
    return (blocks_.size() > 1 ? "blocks of the weight, " : "") + blocks_.front().product->implementation() +
           (of_weight_ == DType::f32 ? "" : ", widened");
  }

  void run(const KernelArgs& args) const override {
    for (const Block& block : blocks_) {
      const std::int64_t column = s_.transpose_b ? block.first : 0, term = s_.transpose_b ? 0 : block.first;
      const float* const bias = s_.epilogue.bias ? args.in<float>(2) + column : nullptr;
      run_kernel(*block.product, {args.in<float>(0) + term, rows_of_weight(args, block), bias},
                 args.out<float>(0) + column, inner_.at(args));
    }
  }

 private:
  struct Block {
    std::int64_t first, rows;
    std::shared_ptr<const Kernel> product;
  };

  const float* rows_of_weight(const KernelArgs& args, const Block& block) const {
    const std::int64_t begin = block.first * row_in_memory(s_), n = block.rows * row_in_memory(s_);
    if (of_weight_ == DType::f32) return args.in<float>(1) + begin;
    float* const wide = widened_.at<float>(args);
    if (of_weight_ == DType::bf16)
      convert(args.in<Bf16>(1) + begin, wide, n);
    else
      convert(args.in<F16>(1) + begin, wide, n);
    return wide;
  }

  GemmShape s_;
  DType of_weight_;
  std::vector<Block> blocks_;
  WorkspaceLayout layout_;
  WorkspacePart widened_, inner_;
};

}  // namespace

bool converts_weight(const GemmShape& s, DType dtype) {
  return dtype == DType::f32 ? can_be_cut(s) : is_in_column_blocks(s, dtype);
}

bool takes_weight(const GemmShape& s, DType dtype, const Var& weight) {
  const bool is_rounded = weight.kind == Kind::Param && weight.dtype == wide_of(dtype);
  return weight.dtype == dtype || ((is_rounded || is_widened(weight, dtype)) && converts_weight(s, dtype));
}

std::unique_ptr<Kernel> prepare_weight_product(const GemmShape& s, DType dtype, DType of_weight, bool in_blocks,
                                               const DeviceInfo& device) {
  const bool on_cpu = device.kind == DeviceKind::Cpu, can_be_low = on_cpu && dtype == DType::f32 && can_be_cut(s);
  check(can_be_low || of_weight == dtype || of_weight == wide_of(dtype), "no product of ", name_of(dtype), " and ",
        name_of(of_weight), on_cpu ? " but of a matrix by a weight" : " on a GPU");
  if (can_be_low && (of_weight != dtype || in_blocks)) return std::make_unique<InWeightBlocks>(s, of_weight, device);
  GemmShape plain = s;
  plain.wide_b = of_weight != dtype;
  return prepare_gemm(plain, dtype, device);
}

}  // namespace lethe
