#include "kernels/gemm/column_blocks.h"

#include <algorithm>
#include <type_traits>

#include "kernels/gemm/part.h"
#include "kernels/gemm/wide_parts.h"
#include "kernels/workspace.h"

namespace lethe {
namespace {

constexpr std::int64_t kBlockElements = std::int64_t{1} << 20;  // elements of b, and at most of c
constexpr std::int64_t kColumnGrain = 64;                       // a block has a multiple of so many

std::int64_t columns_at_a_time(const GemmShape& s) {
  return std::max<std::int64_t>(kBlockElements / std::max<std::int64_t>(s.k, 1) / kColumnGrain, 1) * kColumnGrain;
}

GemmShape with_columns(GemmShape s, std::int64_t columns) {
  s.n = columns;
  s.wide_b = false;
  return s;
}

/// T: of a. B: of b in memory.
template <class T, class B>
class InColumnBlocks final : public Kernel {
 public:
  InColumnBlocks(const GemmShape& s, DType dtype, const DeviceInfo& device, Provider provider)
      : s_(s),
        columns_(columns_at_a_time(s)),
        element_(bytes_of(dtype_of_c(s, dtype))),
        of_block_(prepare_gemm(with_columns(s, columns_), dtype, device, provider)) {
    if (s.n % columns_ != 0) of_last_ = prepare_gemm(with_columns(s, s.n % columns_), dtype, device, provider);
    b_ = layout_.add_array<T>(is_there(s) ? 0 : s.k * columns_);
    c_ = layout_.add(s.m * columns_ * element_);
    inner_ = layout_.add(std::max(of_block_->workspace_bytes(), of_last_ ? of_last_->workspace_bytes() : 0));
  }

  std::int64_t workspace_bytes() const override { return layout_.bytes(); }
  std::string implementation() const override { return "blocks of columns, " + of_block_->implementation(); }

  void run(const KernelArgs& args) const override {
    for (std::int64_t first = 0; first < s_.n; first += columns_) run_block(args, first);
  }

 private:
  void run_block(const KernelArgs& args, std::int64_t first) const {
    const std::int64_t columns = std::min(columns_, s_.n - first);
    char* const c = c_.at<char>(args);
    const T* const bias = s_.epilogue.bias ? args.in<T>(2) + first : nullptr;
    run_kernel(columns == columns_ ? *of_block_ : *of_last_, {args.in<T>(0), block_of_b(args, first, columns), bias}, c,
               inner_.at(args));
    convert_part<const char, char>({c, columns * element_, s_.m, columns * element_},
                                   {args.out<char>(0) + first * element_, s_.n * element_, s_.m, columns * element_});
  }

  /// Whether each block of b stands in memory as it is.
  static bool is_there(const GemmShape& s) { return std::is_same_v<T, B> && s.transpose_b; }

  /// In T, with dense rows.
  const T* block_of_b(const KernelArgs& args, std::int64_t first, std::int64_t columns) const {
    const std::int64_t k = s_.k;
    if (is_there(s_)) return args.in<T>(1) + first * k;
    T* const block = b_.at<T>(args);
    if (s_.transpose_b)
      convert_part<const B, T>({args.in<B>(1) + first * k, k, columns, k}, {block, k, columns, k});
    else
      convert_part<const B, T>({args.in<B>(1) + first, s_.n, k, columns}, {block, columns, k, columns});
    return block;
  }

  GemmShape s_;
  std::int64_t columns_, element_;  // element_: bytes of one of c
  std::unique_ptr<Kernel> of_block_, of_last_;
  WorkspaceLayout layout_;
  WorkspacePart b_, c_, inner_;
};

template <class T>
std::unique_ptr<Kernel> blocks_of(const GemmShape& s, DType dtype, const DeviceInfo& device, Provider provider) {
  if (s.wide_b) return std::make_unique<InColumnBlocks<T, float>>(s, dtype, device, provider);
  return std::make_unique<InColumnBlocks<T, T>>(s, dtype, device, provider);
}

}  // namespace

bool is_in_column_blocks(const GemmShape& s, DType dtype) {
  const std::int64_t columns = columns_at_a_time(s);
  return wide_of(dtype) != dtype && s.batch == 1 && s.is_dense() && !s.accumulate && !s.transpose_a && s.n > columns &&
         s.m * columns <= kBlockElements;
}

std::unique_ptr<Kernel> prepare_gemm_in_column_blocks(const GemmShape& s, DType dtype, const DeviceInfo& device,
                                                      Provider provider) {
  return dtype == DType::bf16 ? blocks_of<Bf16>(s, dtype, device, provider)
                              : blocks_of<F16>(s, dtype, device, provider);
}

}  // namespace lethe
