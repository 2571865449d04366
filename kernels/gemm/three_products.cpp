#include "kernels/gemm/three_products.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/gemm/wide_parts.h"
#include "kernels/workspace.h"

namespace lethe {
namespace {

/// Which of a row's three are its low parts.
constexpr std::array<bool, 3> kLowOfA = {false, false, true}, kLowOfB = {false, true, false};

void split(const float* from, std::int64_t n, const std::array<bool, 3>& low, std::int64_t width, Bf16* to) {
  for (std::int64_t j = 0; j < n; ++j) {
    const Bf16 high(from[j]);
    const float rest = from[j] - compute(high);
    const Bf16 halves[] = {high, Bf16(std::isfinite(rest) ? rest : 0.0F)};
    for (int part = 0; part < 3; ++part) to[part * width + j] = halves[low[part] ? 1 : 0];
  }
}

void split_rows(const float* from, const FactorRows& factor, const std::array<bool, 3>& low, Bf16* to) {
  const std::int64_t width = factor.width;
  parallel_ranges(factor.rows * width, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
    while (begin < end) {
      const std::int64_t row = begin / width, first = begin % width, n = std::min(width - first, end - begin);
      split(from + begin, n, low, width, to + row * 3 * width + first);
      begin += n;
    }
  });
}

class ThreeProducts final : public Kernel {
 public:
  ThreeProducts(FactorRows a, FactorRows b, std::unique_ptr<Kernel> deep) : a_(a), b_(b), deep_(std::move(deep)) {
    deep_a_ = layout_.add_array<Bf16>(3 * a.rows * a.width);
    deep_b_ = layout_.add_array<Bf16>(3 * b.rows * b.width);
    inner_ = layout_.add(deep_->workspace_bytes());
  }
  std::int64_t workspace_bytes() const override { return layout_.bytes(); }
  std::string implementation() const override { return deep_->implementation() + ", three bf16 products"; }
  void run(const KernelArgs& args) const override {
    Bf16 *const a = deep_a_.at<Bf16>(args), *const b = deep_b_.at<Bf16>(args);
    split_rows(args.in<float>(0), a_, kLowOfA, a);
    split_rows(args.in<float>(1), b_, kLowOfB, b);
    run_kernel(*deep_, {a, b}, args.outputs[0], inner_.at(args));
  }

 private:
  FactorRows a_, b_;
  std::unique_ptr<Kernel> deep_;
  WorkspaceLayout layout_;
  WorkspacePart deep_a_, deep_b_, inner_;
};

}  // namespace

std::unique_ptr<Kernel> prepare_three_products(FactorRows a, FactorRows b, std::unique_ptr<Kernel> deep) {
  return std::make_unique<ThreeProducts>(a, b, std::move(deep));
}

}  // namespace lethe
