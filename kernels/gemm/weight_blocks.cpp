#include "kernels/gemm/weight_blocks.h"

#include <algorithm>
#include <vector>

#include "framework/error.h"
#include "kernels/by_kind.h"
#include "kernels/gemm/coded_gemm.h"
#include "kernels/gemm/column_blocks.h"
#include "kernels/quantized/cuda_launches.h"
#include "kernels/quantized/dequantize.h"
#include "kernels/workspace.h"

namespace lethe {
namespace {

constexpr std::int64_t kWeightRowGrain = 64;  // a block has a multiple of so many

/// Elements of b that are there in full at a time: on a CPU what its cache holds, but of bf16 and f16, whose products
/// take dense matrices alone where they are widened, all of it; on a GPU what a launch is worth.
std::int64_t most_widened(DeviceKind kind, DType dtype) {
  if (kind == DeviceKind::Cpu) return std::int64_t{1} << (wide_of(dtype) == dtype ? 20 : 40);
  return std::int64_t{1} << 25;
}

std::int64_t rows_in_memory(const GemmShape& s) { return s.transpose_b ? s.n : s.k; }
std::int64_t row_in_memory(const GemmShape& s) { return s.transpose_b ? s.k : s.n; }

std::int64_t weight_rows_at_a_time(const GemmShape& s, DType dtype, DeviceKind kind) {
  const std::int64_t row = std::max<std::int64_t>(row_in_memory(s), 1);
  const std::int64_t most =
      std::max<std::int64_t>(most_widened(kind, dtype) / row / kWeightRowGrain, 1) * kWeightRowGrain;
  return std::min(most, rows_in_memory(s));
}

bool can_be_cut(const GemmShape& s) {
  return s.batch == 1 && !s.transpose_a && s.stride_b == 0 && !s.accumulate && !s.wide_c && !s.epilogue.gelu_grad &&
         (s.transpose_b || (s.stride_c == 0 && s.epilogue.is_empty()));
}

/// Rows of b are columns of c if b is transposed, else terms of all of c: of bf16 and f16 they are added up in f32.
GemmShape with_weight_rows(GemmShape s, DType dtype, std::int64_t first, std::int64_t rows) {
  if (rows == rows_in_memory(s)) return s;
  if (s.transpose_b)
    s.stride_c = s.row_c(), s.n = rows;
  else
    s.stride_a = s.row_a(), s.k = rows, s.accumulate = first > 0, s.wide_c = wide_of(dtype) != dtype;
  return s;
}

/// So many numbers of x, from number `first` on, in another dtype.
void convert_numbers(DeviceKind kind, void* stream, const BlockedWeight& x, const void* memory, std::int64_t first,
                     std::int64_t n, DType to, void* y) {
  by_kind(
      kind, [&] { launch_converted(stream, x, memory, first, n, to, y); },
      [&] { convert_numbers(Cpu{}, stream, x, memory, first, n, to, y); });
}

class InWeightBlocks final : public Kernel {
 public:
  InWeightBlocks(const GemmShape& s, DType dtype, DType of_weight, const DeviceInfo& device)
      : s_(s),
        dtype_(dtype),
        weight_{of_weight, {rows_in_memory(s), row_in_memory(s)}},
        kind_(device.kind),
        element_(bytes_of(dtype)),
        layout_(kind_ == DeviceKind::Cpu ? kVectorAlignment : kGpuAlignment) {
    const std::int64_t all = rows_in_memory(s), most = weight_rows_at_a_time(s, dtype, kind_);
    std::int64_t inner = 0;
    for (std::int64_t first = 0; first < all; first += most) {
      const std::int64_t rows = std::min(most, all - first);
      // Equal products are those of the block before.
      const bool again = blocks_.size() > 1 && blocks_.back().rows == rows;
      blocks_.push_back(
          {first, rows,
           again ? blocks_.back().product : prepare_gemm(with_weight_rows(s, dtype, first, rows), dtype, device)});
      inner = std::max(inner, blocks_.back().product->workspace_bytes());
    }
    adds_wide_ = !s.transpose_b && blocks_.size() > 1 && wide_of(dtype) != dtype;
    widened_ = layout_.add(of_weight == dtype ? 0 : most * row_in_memory(s) * element_);
    sums_ = layout_.add_array<float>(adds_wide_ ? s.m * s.n : 0);
    inner_ = layout_.add(inner);
  }

  std::int64_t workspace_bytes() const override { return layout_.bytes(); }
  std::string implementation() const override {
    return (blocks_.size() > 1 ? "blocks of the weight, " : "") + blocks_.front().product->implementation() +
           (weight_.dtype == dtype_ ? "" : ", widened");
  }

  void run(const KernelArgs& args) const override {
    for (const Block& block : blocks_) {
      const std::int64_t column = s_.transpose_b ? block.first : 0, term = s_.transpose_b ? 0 : block.first;
      const char* const bias = s_.epilogue.bias ? args.in<char>(2) + column * element_ : nullptr;
      char* const c = adds_wide_ ? sums_.at<char>(args) : args.out<char>(0) + column * element_;
      KernelArgs inner = args;
      void* inputs[] = {static_cast<char*>(args.inputs[0]) + term * element_,
                        const_cast<void*>(rows_of_weight(args, block)), const_cast<char*>(bias)};
      void* output = c;
      inner.inputs = inputs, inner.outputs = &output, inner.workspace = inner_.at(args);
      block.product->run(inner);
    }
    if (adds_wide_)
      convert_numbers(kind_, args.stream, {DType::f32}, sums_.at(args), 0, s_.m * s_.n, dtype_, args.outputs[0]);
  }

 private:
  struct Block {
    std::int64_t first, rows;
    std::shared_ptr<const Kernel> product;
  };

  const void* rows_of_weight(const KernelArgs& args, const Block& block) const {
    const std::int64_t begin = block.first * row_in_memory(s_), n = block.rows * row_in_memory(s_);
    if (weight_.dtype == dtype_) return args.in<char>(1) + begin * element_;
    void* const widened = widened_.at(args);
    convert_numbers(kind_, args.stream, weight_, args.inputs[1], begin, n, dtype_, widened);
    return widened;
  }

  GemmShape s_;
  DType dtype_;
  BlockedWeight weight_;
  DeviceKind kind_;
  std::int64_t element_;
  std::vector<Block> blocks_;
  bool adds_wide_ = false;
  WorkspaceLayout layout_;
  WorkspacePart widened_, sums_, inner_;
};

}  // namespace

bool converts_weight(const GemmShape& s, DType dtype, DType of_weight) {
  if (is_in_blocks(of_weight)) return dtype != DType::f64 && can_be_cut(s);
  return dtype == DType::f32 ? can_be_cut(s) : is_in_column_blocks(s, dtype);
}

bool takes_weight(const GemmShape& s, DType dtype, const Var& weight) {
  const bool is_rounded = weight.kind == Kind::Param && weight.dtype == wide_of(dtype);
  return weight.dtype == dtype ||
         ((is_rounded || is_widened(weight, dtype)) && converts_weight(s, dtype, weight.dtype));
}

std::unique_ptr<Kernel> prepare_weight_product(const GemmShape& s, DType dtype, DType of_weight, bool in_blocks,
                                               const DeviceInfo& device) {
  const bool on_cpu = device.kind == DeviceKind::Cpu, low = is_in_blocks(of_weight);
  const bool can_be_low = dtype != DType::f64 && can_be_cut(s) &&
                          (low || (in_blocks && of_weight == dtype) || (on_cpu && dtype == DType::f32));
  check(can_be_low || of_weight == dtype || of_weight == wide_of(dtype), "no product of ", name_of(dtype), " and ",
        name_of(of_weight), on_cpu ? " but of a matrix by a weight" : " on a GPU");
  if (can_be_low && (of_weight == dtype ? in_blocks : of_weight != wide_of(dtype))) {
    if (is_coded_product(s, dtype, device.kind)) return prepare_coded_product(s, dtype, of_weight, device);
    return std::make_unique<InWeightBlocks>(s, dtype, of_weight, device);
  }
  GemmShape plain = s;
  plain.wide_b = of_weight != dtype;
  return prepare_gemm(plain, dtype, device);
}

}  // namespace lethe
