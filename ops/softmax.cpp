// y[n, c] = exp(x[n, c]) / sum over c of exp(x[n, c]) along the last axis. With the attribute `causal` row t of each
// matrix [.., T, T] has columns 0 to t alone, and zeros after them. The gradient reads y, whose zeros give none.
#include <cmath>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/builder/settings.h"
#include "framework/language/op_def.h"
#include "kernels/dtypes.h"
#include "kernels/reduce/map_packed_rows.h"

namespace lethe {
namespace {

template <class T>
struct SoftmaxRow {
  std::int64_t length, steps;  // steps: rows of a matrix, if causal, else 0
  const T* in;
  T* out;
  bool packed;

  static constexpr bool kSameSteps = true;
  std::int64_t packs() const { return length / together<T>(length); }
  template <class Team>
  HD void operator()(const Team& team, std::int64_t row) const {
    in_packs<T, Team>(length, [&](auto V) { run<V>(team, row, steps > 0 ? row % steps + 1 : length); });
  }

 private:
  template <int V, class Team>
  HD void run(const Team& team, std::int64_t row, std::int64_t seen) const {
    using C = Compute<T>;
    const std::int64_t packs = (seen + V - 1) / V;
    const auto x = team.hold(packs, RowPacks<V, const T>{in + row * length, packed});
    const RowPacks<V, T> y{out + row * length, packed};
    const C most = team.max(packs, [&](auto i) { return max_in_pack(x[i], seen - i * V); });
    const auto total = team.sum(packs, [&](auto i) {
      const auto of_x = x[i];
      return sum_in_pack<V>([&](int v) { return std::exp(of_x[v] - most); }, seen - i * V);
    });
    const C inverse = static_cast<C>(1 / total);
    team.each(packs, [&](auto i) {
      const auto of_x = x[i];
      y.set(i, pack_of<T, V>(
                   [&](int v) { return V == 1 || i * V + v < seen ? std::exp(of_x[v] - most) * inverse : C(0); }));
    });
    team.each(length / V - packs, [&](std::int64_t i) { y.set(packs + i, Pack<T, V>{}); });
  }
};

struct Softmax {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Shape& shape = args.out(0).shape;
    const std::int64_t length = shape.back(), rows = elements(shape) / length;
    const std::int64_t steps = args.op.attrs.flag("causal", false) ? length : 0;
    return for_float(args.out(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([=](const KernelArgs& a) {
        const bool packed = can_pack({a.in<T>(0), a.out<T>(0)});
        for_each_row(Device{}, a.stream, rows, length, SoftmaxRow<T>{length, steps, a.in<T>(0), a.out<T>(0), packed});
      });
    });
  }
};

std::vector<Type> infer_softmax(const InferArgs& args) {
  const Shape& x = args.in(0).shape;
  const bool is_square = x.size() >= 2 && x[x.size() - 2] == x.back();
  check(!args.op.attrs.flag("causal", false) || is_square, "softmax: ", text_of(x),
        " are no scores [.., T, T] to be causal");
  return same_rows_as_first(args);
}

VarId build_softmax(LayerCall& c) {
  if (!c.settings().flag("causal")) return c.emit_along("axis", "softmax");
  if (c.settings().has("axis")) throw SettingError("axis", "'causal' is for the last axis; leave 'axis' out");
  check(c.shape().size() >= 3, "softmax: ", text_of(c.shape()), " is no batch of scores [.., T, T] to be causal");
  return c.emit("softmax", {c.in()}, {{"causal", 1}});
}

/// dx = y * (dy - sum over c of y * dy).
template <class T>
struct SoftmaxGradRow {
  template <int V, class Team, class Y, class To>
  HD static void run(const Team& team, std::int64_t packs, const Y& y, const Y& dy, const To& dx) {
    const auto common = static_cast<Compute<T>>(team.sum(packs, [&](auto i) {
      const auto p = y[i], g = dy[i];
      return sum_in_pack<V>([&](int v) { return p[v] * g[v]; });
    }));
    team.each(packs, [&](auto i) {
      const auto p = y[i], g = dy[i];
      dx.set(i, pack_of<T, V>([&](int v) { return p[v] * (g[v] - common); }));
    });
  }
};

const Register softmax{{
    .type = "softmax",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = infer_softmax,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "softmax_grad", {g.y(), g.dy()});
        },
    .inplace = {{.in = 0, .out = 0}},
    .along = Along::Rows,
    .kernels = each_device<Softmax>(),
    .layer = {.name = "softmax",
              .aliases = {"Softmax"},
              .keys = {{.name = "causal",
                        .type = KeyType::Bool,
                        .absent = 0,
                        .help = "of attention scores [.., T, T]: row t sees columns 0 to t, the others are exactly 0"},
                       {.name = "axis",
                        .type = KeyType::Axis,
                        .help = "another axis along which probabilities add up to 1",
                        .optional = true}},
              .build = build_softmax,
              .help = "probabilities along the channels"},
}};

const Register softmax_grad{{
    .type = "softmax_grad",
    .inputs = {"y", "dy"},
    .outputs = {"dx"},
    .infer = same_as_first,
    .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}},
    .kernels = map_rows<SoftmaxGradRow, 2>(),
}};

}  // namespace
}  // namespace lethe
