#include <algorithm>

#include "framework/error.h"
#include "kernels/gemm/part.h"
#include "kernels/gemm/providers.h"
#include "kernels/gemm/wide_parts.h"
#include "kernels/workspace.h"

namespace lethe {
namespace {

/// Products of a stack one by one. The smaller operand is widened whole; the rows or columns of the other, and those of
/// the result, some at a time. If the result is f32 itself and b widened is worth a round, b is the one: some rows of
/// the result are in one piece, and are computed where they belong.
template <class T>
class WidenedGemm final : public Kernel {
 public:
  WidenedGemm(const GemmShape& s, const DeviceInfo& device)
      : s_(s),
        by_rows_(s.n <= s.m || (is_written_wide(s) && s.k * s.n * std::int64_t{sizeof(float)} <= kRoundBytes)),
        cut_(by_rows_ ? s.m : s.n),
        round_(std::clamp<std::int64_t>(worth(), 1, std::max<std::int64_t>(cut_, 1))),
        in_place_(is_written_wide(s) && by_rows_) {
    check(s.is_dense(), "no product of low floats but of dense matrices");
    const GemmShape most = slab(round_);
    whole_ = prepare_gemm(most, DType::f32, device);
    std::int64_t inner = whole_->workspace_bytes();
    if (cut_ % round_ > 0) {
      rest_ = prepare_gemm(slab(cut_ % round_), DType::f32, device);
      inner = std::max(inner, rest_->workspace_bytes());
    }
    a_ = layout_.add_array<float>(most.m * most.k);
    b_ = layout_.add_array<float>(most.k * most.n);
    bias_ = layout_.add_array<float>(s.epilogue.bias ? s.n : 0);
    c_ = layout_.add_array<float>(in_place_ ? 0 : most.m * most.n);
    inner_ = layout_.add(inner);
  }
  std::int64_t workspace_bytes() const override { return layout_.bytes(); }
  std::string implementation() const override { return whole_->implementation() + ", widened"; }

  void run(const KernelArgs& args) const override {
    if (s_.epilogue.bias) convert(args.in<T>(2), bias_.at<float>(args), s_.n);
    for (std::int64_t i = 0; i < s_.batch; ++i)
      for (std::int64_t first = 0; first < cut_; first += round_) run_slab(args, i, first);
  }

 private:
  static bool is_written_wide(const GemmShape& s) { return s.wide_c && !s.accumulate; }
  std::int64_t worth() const {
    return kRoundBytes / (std::max<std::int64_t>(s_.k + (by_rows_ ? s_.n : s_.m), 1) * std::int64_t{sizeof(float)});
  }

  GemmShape slab(std::int64_t count) const {
    GemmShape part = s_;
    part.batch = 1;
    part.wide_c = part.accumulate = false;
    (by_rows_ ? part.m : part.n) = count;
    return part;
  }

  /// The slab's part of a matrix, or the whole matrix if it is not cut.
  template <class U>
  static Part<U> part(U* matrix, std::int64_t rows, std::int64_t columns, bool is_cut, bool along_rows,
                      std::int64_t first, std::int64_t count) {
    if (!is_cut) return {matrix, columns, rows, columns};
    return along_rows ? Part<U>{matrix + first * columns, columns, count, columns}
                      : Part<U>{matrix + first, columns, rows, count};
  }

  void run_slab(const KernelArgs& args, std::int64_t i, std::int64_t first) const {
    const std::int64_t count = std::min(round_, cut_ - first), m = s_.m, n = s_.n, k = s_.k;
    const auto wide = [](float* to, const auto& like) {
      return Part<float>{to, like.columns, like.rows, like.columns};
    };
    const auto a = part(args.in<T>(0) + i * m * k, s_.transpose_a ? k : m, s_.transpose_a ? m : k, by_rows_,
                        !s_.transpose_a, first, count);
    const auto b = part(args.in<T>(1) + i * k * n, s_.transpose_b ? n : k, s_.transpose_b ? k : n, !by_rows_,
                        s_.transpose_b, first, count);
    const Part<float> c = {in_place_ ? args.out<float>(0) + (i * m + first) * n : c_.at<float>(args),
                           by_rows_ ? n : count, by_rows_ ? count : m, by_rows_ ? n : count};
    if (first == 0 || by_rows_) convert_part(a, wide(a_.at<float>(args), a));
    if (first == 0 || !by_rows_) convert_part(b, wide(b_.at<float>(args), b));
    const float* const bias = s_.epilogue.bias ? bias_.at<float>(args) + (by_rows_ ? 0 : first) : nullptr;
    run_kernel(count == round_ ? *whole_ : *rest_, {a_.at(args), b_.at(args), bias}, c.data, inner_.at(args));
    if (in_place_) return;
    const auto write_to = [&](auto* out) {
      convert_part(c, part(out + i * m * n, m, n, true, by_rows_, first, count), s_.accumulate);
    };
    if (s_.wide_c)
      write_to(args.out<float>(0));
    else
      write_to(args.out<T>(0));
  }

  GemmShape s_;
  bool by_rows_;              // m is cut, else n
  std::int64_t cut_, round_;  // of m or n
  bool in_place_;
  std::unique_ptr<Kernel> whole_, rest_;
  WorkspaceLayout layout_;
  WorkspacePart a_, b_, bias_, c_, inner_;
};

}  // namespace

std::unique_ptr<Kernel> prepare_gemm_widened(const GemmShape& shape, DType dtype, const DeviceInfo& device) {
  if (dtype == DType::bf16) return std::make_unique<WidenedGemm<Bf16>>(shape, device);
  return std::make_unique<WidenedGemm<F16>>(shape, device);
}

}  // namespace lethe
