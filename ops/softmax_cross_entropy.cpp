// loss[n] = -sum over c of target[n, c] * log(softmax(logits[n])[c]) for each row n of the logits [.., C] and the label
// of the row, for the target (1 - s) at the label plus s / C everywhere, s being label_smoothing. The gradient computes
// the softmax again from the logits: nothing else is kept. A negative label says that the row does not count: its loss
// and gradient are 0. Any other that names no class gives NaN.
#include <cmath>
#include <limits>

#include "framework/autodiff/autodiff.h"
#include "kernels/dtypes.h"
#include "kernels/reduce/labels.h"
#include "kernels/reduce/row_packs.h"
#include "kernels/reduce/rows.h"

namespace lethe {
namespace {

template <int V, class Team, class X, class C>
HD double sum_of_powers(const Team& team, std::int64_t packs, const X& x, C most) {
  return team.sum(packs, [&](auto i) {
    const auto of_x = x[i];
    return sum_in_pack<V>([&](int v) { return std::exp(of_x[v] - most); });
  });
}

template <class T>
struct CrossEntropy {
  std::int64_t classes;
  double smoothing;
  const T* logits;
  const std::int32_t* label;
  Compute<T>* loss;
  bool packed;

  static constexpr bool kSameSteps = true;
  std::int64_t packs() const { return classes / together<T>(classes); }
  template <class Team>
  HD void operator()(const Team& team, std::int64_t row) const {
    in_packs<T, Team>(classes, [&](auto V) { run<V>(team, row); });
  }

 private:
  template <int V, class Team>
  HD void run(const Team& team, std::int64_t row) const {
    using C = Compute<T>;
    const std::int64_t packs = classes / V;
    const std::int32_t right = label[row];
    const auto x = team.hold(packs, RowPacks<V, const T>{logits + row * classes, packed});
    const C most = team.max(packs, [&](auto i) { return max_in_pack(x[i]); });
    const double total = sum_of_powers<V>(team, packs, x, most);
    double expected = 0;  // of x - most, under the smooth part of the target
    if (smoothing != 0) {
      const auto differences = [&](auto i) {
        const auto of_x = x[i];
        return sum_in_pack<V>([&](int v) { return of_x[v] - most; });
      };
      expected = team.sum(packs, differences) / static_cast<double>(classes);
    }
    if (!team.leads()) return;
    if (right < 0 || right >= classes) {
      loss[row] = right < 0 ? C(0) : std::numeric_limits<C>::quiet_NaN();
      return;
    }
    const double at_label = static_cast<double>(logits[row * classes + right] - most);
    loss[row] = static_cast<C>(std::log(total) - ((1 - smoothing) * at_label + smoothing * expected));
  }
};

/// dlogits = (softmax(logits) - target) * dloss.
template <class T>
struct CrossEntropyGrad {
  std::int64_t classes;
  double smoothing;
  const T* logits;
  const std::int32_t* label;
  const Compute<T>* dloss;
  T* dlogits;
  bool packed;

  static constexpr bool kSameSteps = true;
  std::int64_t packs() const { return classes / together<T>(classes); }
  template <class Team>
  HD void operator()(const Team& team, std::int64_t row) const {
    in_packs<T, Team>(classes, [&](auto V) { run<V>(team, row); });
  }

 private:
  template <int V, class Team>
  HD void run(const Team& team, std::int64_t row) const {
    using C = Compute<T>;
    const std::int64_t packs = classes / V;
    const std::int32_t right = label[row];
    const RowPacks<V, T> dx{dlogits + row * classes, packed};
    constexpr std::int64_t kOfPart = 16;  // packs of a row of which a part of a warp takes care, beside other rows
    if (right < 0 && (!Team::kHolds || packs > kOfPart))
      return team.each(packs, [&](std::int64_t i) { dx.set(i, Pack<T, V>{}); });
    const auto x = team.hold(packs, RowPacks<V, const T>{logits + row * classes, packed});
    const C most = team.max(packs, [&](auto i) { return max_in_pack(x[i]); });
    const double total = sum_of_powers<V>(team, packs, x, most);
    const C scale = right < classes ? dloss[row] : std::numeric_limits<C>::quiet_NaN();
    const C inverse = static_cast<C>(1 / total), hit = static_cast<C>(1 - smoothing);
    const C everywhere = static_cast<C>(smoothing / static_cast<double>(classes));
    team.each(packs, [&](auto i) {
      const auto of_x = x[i];
      dx.set(i, pack_of<T, V>([&](int v) {
               const C at_label = i * V + v == right ? hit : C(0);
               return right < 0 ? C(0) : (std::exp(of_x[v] - most) * inverse - everywhere - at_label) * scale;
             }));
    });
  }
};

struct Prepare {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const std::int64_t rows = elements(args.in(1).shape), classes = args.in(0).shape.back();
    const double smoothing = args.op.attrs.number("label_smoothing", 0);
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([=](const KernelArgs& a) {
        for_each_row(Device{}, a.stream, rows, classes,
                     CrossEntropy<T>{classes, smoothing, a.in<T>(0), a.in<std::int32_t>(1), a.out<Compute<T>>(0),
                                     can_pack({a.in<T>(0)})});
      });
    });
  }
};

struct PrepareGrad {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const std::int64_t rows = elements(args.in(1).shape), classes = args.in(0).shape.back();
    const double smoothing = args.op.attrs.number("label_smoothing", 0);
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([=](const KernelArgs& a) {
        for_each_row(Device{}, a.stream, rows, classes,
                     CrossEntropyGrad<T>{classes, smoothing, a.in<T>(0), a.in<std::int32_t>(1), a.in<Compute<T>>(2),
                                         a.out<T>(0), can_pack({a.in<T>(0), a.out<T>(0)})});
      });
    });
  }
};

std::vector<Type> infer_loss(const InferArgs& args) { return {{labels_of(args), wide_of(args.in(0).dtype)}}; }

const Register softmax_cross_entropy{{
    .type = "softmax_cross_entropy",
    .inputs = {"logits", "label"},
    .outputs = {"loss"},
    .infer = infer_loss,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "softmax_cross_entropy_grad", {g.x(0), g.x(1), g.dy()}, g.attrs());
        },
    .kernels = each_device<Prepare>(),
}};

const Register softmax_cross_entropy_grad{{
    .type = "softmax_cross_entropy_grad",
    .inputs = {"logits", "label", "dloss"},
    .outputs = {"dlogits"},
    .infer =
        [](const InferArgs& args) {
          check_input(args, 2, infer_loss(args).front());
          return same_as_first(args);
        },
    .inplace = {{.in = 0, .out = 0}},
    .kernels = each_device<PrepareGrad>(),
}};

}  // namespace
}  // namespace lethe
