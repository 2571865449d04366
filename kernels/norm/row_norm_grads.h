// All gradients of a norm of rows (row_norm.h), both devices: that of x by row, those of weight and bias by column. On
// a GPU rows that a team holds are read once for both.
#pragma once
#include "kernels/norm/held_norm_grads.h"
#include "kernels/norm/row_norm_grad.h"
#include "kernels/packs.h"
#include "kernels/reduce/rows.h"
#include "kernels/reduce/sums.h"
#include "kernels/workspace.h"

namespace lethe {

template <class T, bool kCentred>
struct NormWeightTerms {
  using C = Compute<T>;
  using Terms = decltype(norm_terms<kCentred>(C{}, C{}, C{}, C{}));
  using Nothing = std::array<C, 0>;
  const T *x, *dy;
  const C *mean, *inverse;  // not kCentred: mean is not read
  HD Terms terms_of(std::int64_t row, C x, C dy) const {
    return norm_terms<kCentred>(x, dy, kCentred ? mean[row] : C(0), inverse[row]);
  }
  HD Terms operator()(std::int64_t row, std::int64_t i, const Nothing&) const {
    return terms_of(row, compute(x[i]), compute(dy[i]));
  }

  static constexpr int kElements = kPack<T>;
  bool can_pack() const { return lethe::can_pack({x, dy}); }
  template <int V>
  HD void pack(std::int64_t row, std::int64_t i, const Nothing*, Terms* terms) const {
    const Pack<T, V> of_x = load_pack<V>(x + i), of_dy = load_pack<V>(dy + i);
    for (int v = 0; v < V; ++v) terms[v] = terms_of(row, of_x[v], of_dy[v]);
  }
};

template <class C, std::size_t N>
struct StoreWeightGrads {
  C* grads[N];
  HD void operator()(std::int64_t, std::int64_t c, const std::array<double, N>& sums) const {
    for (int n = 0; n < static_cast<int>(N); ++n) grads[n][c] = static_cast<C>(sums[n]);
  }
};

/// For rows of `extent`.inner elements of T, as many as its middle.
template <class Device, class T, bool kCentred>
class NormGrads {
  using Row = NormGradRow<T, kCentred>;
  using C = Compute<T>;
  static constexpr int K = Row::kTerms;

 public:
  NormGrads(const DeviceInfo& device, const SumExtent& extent, DType dtype)
      : extent_(extent),
        pieces_(pieces_of_held<T, K>(Device{}, extent)),
        plan_(pieces_ > 0 ? plan_sum(Device{}, device, {.middle = pieces_, .inner = extent.inner}, wide_of(dtype))
                          : plan_sum(Device{}, device, extent, dtype)) {
    layout_.add(sum_workspace(plan_, K));  // first: sum_middle takes the beginning
    partial_ = layout_.template add_array<C>(pieces_ * K * extent.inner);
  }
  std::int64_t workspace_bytes() const { return layout_.bytes(); }
  /// As Kernel has it: x and dy once more.
  std::int64_t bytes_again() const { return pieces_ > 0 ? 0 : 2 * extent_.size() * std::int64_t{sizeof(T)}; }

  /// `grads`: of weight and bias. dx may stand in the memory of what the row reads.
  void run(const KernelArgs& args, const Row& row, const StoreWeightGrads<C, K>& grads) const {
    if constexpr (!std::is_same_v<Device, Cpu>)
      if (pieces_ > 0) {
        C* const partial = partial_.template at<C>(args);
        launch_norm_grads(args.stream, extent_.middle, pieces_, row, partial);
        return sum_middle(Device{}, args, plan_, Columns<C, 0>{}, PieceTerms<C, K>{partial, extent_.inner}, grads);
      }
    sum_middle(Device{}, args, plan_, Columns<T, 0>{},
               NormWeightTerms<T, kCentred>{row.in, row.dy, row.mean, row.inverse}, grads);
    for_each_row(Device{}, args.stream, extent_.middle, extent_.inner, row);  // last: it may overwrite what was read
  }

 private:
  SumExtent extent_;
  std::int64_t pieces_;  // that blocks sum whose teams hold rows; 0: no team holds one
  SumPlan plan_;
  WorkspaceLayout layout_;
  WorkspacePart partial_;
};

}  // namespace lethe
