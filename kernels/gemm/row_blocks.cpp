#include "kernels/gemm/row_blocks.h"

#include <algorithm>
#include <cstring>

namespace lethe {
namespace {

constexpr std::int64_t kLarge = std::int64_t{32} << 20;  // bytes of c
constexpr std::int64_t kBlock = std::int64_t{2} << 20;   // of its rows, and of the columns of a
constexpr std::int64_t kMostTerms = 512;                 // with more, arithmetic takes longer
constexpr std::int64_t kRows = 16;                       // a block has a multiple of so many

std::int64_t bytes_of_row(const GemmShape& s, DType dtype) { return s.n * bytes_of(dtype_of_c(s, dtype)); }

GemmShape with_rows(GemmShape s, std::int64_t rows) {
  s.m = rows;
  return s;
}

class InRowBlocks final : public Kernel {
 public:
  InRowBlocks(const GemmShape& s, DType dtype, const DeviceInfo& device, Provider provider)
      : blocks_(s, dtype, device, provider), row_(bytes_of_row(s, dtype)) {}
  std::int64_t workspace_bytes() const override { return blocks_.workspace_bytes(); }
  std::string implementation() const override { return blocks_.implementation(); }
  void run(const KernelArgs& args) const override {
    for (std::int64_t block = 0; block < blocks_.count(); ++block)
      blocks_.run(block, args.inputs[0], args.inputs[1], args.out<char>(0) + blocks_.first_row(block) * row_,
                  args.workspace);
  }

 private:
  RowBlocks blocks_;
  std::int64_t row_;
};

}  // namespace

std::int64_t rows_of_block(const GemmShape& s, DType dtype) {
  const std::int64_t bytes = std::max(bytes_of_row(s, dtype), s.k * bytes_of(dtype));
  return std::min(s.m, std::max<std::int64_t>(kBlock / bytes / kRows, 1) * kRows);
}

bool is_in_row_blocks(const GemmShape& s, DType dtype) {
  return s.batch == 1 && s.transpose_a && !s.transpose_b && s.is_dense() && !s.accumulate && !s.epilogue.bias &&
         !s.epilogue.relu && s.k <= kMostTerms && s.m > rows_of_block(s, dtype) &&
         s.m * bytes_of_row(s, dtype) >= kLarge;
}

RowBlocks::RowBlocks(const GemmShape& s, DType dtype, const DeviceInfo& device, Provider provider)
    : shape_(s),
      rows_(rows_of_block(s, dtype)),
      element_(bytes_of(dtype)),
      of_block_(prepare_gemm(with_rows(s, rows_), dtype, device, provider)) {
  if (s.m % rows_ != 0) of_last_ = prepare_gemm(with_rows(s, s.m % rows_), dtype, device, provider);
  columns_ = layout_.add(s.k * rows_ * element_);
  scratch_ = layout_.add(std::max(of_block_->workspace_bytes(), of_last_ ? of_last_->workspace_bytes() : 0));
}

void RowBlocks::run(std::int64_t block, const void* a, const void* b, void* c, void* workspace) const {
  const KernelArgs args{.workspace = workspace};
  char* const columns = columns_.at<char>(args);
  const std::int64_t rows = this->rows(block);
  const char* const from = static_cast<const char*>(a) + first_row(block) * element_;
  for (std::int64_t term = 0; term < shape_.k; ++term)
    std::memcpy(columns + term * rows * element_, from + term * shape_.m * element_, rows * element_);
  void* const factors[] = {columns, const_cast<void*>(b)};
  (rows == rows_ ? of_block_ : of_last_)->run({.inputs = factors, .outputs = &c, .workspace = scratch_.at(args)});
}

std::unique_ptr<Kernel> prepare_gemm_in_row_blocks(const GemmShape& shape, DType dtype, const DeviceInfo& device,
                                                   Provider provider) {
  return std::make_unique<InRowBlocks>(shape, dtype, device, provider);
}

}  // namespace lethe
