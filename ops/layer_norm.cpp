// y = (x - mean) * inv_std * weight + bias along the last axis, inv_std = 1 / sqrt(biased variance + eps). Mean and
// inv_std, one of each a row, are kept for the gradient.
#include <cmath>

#include "framework/autodiff.h"
#include "kernels/dtypes.h"
#include "kernels/reduce/rows.h"
#include "kernels/reduce/sums.h"

namespace lethe {
namespace {

template <class T>
struct LayerNormRow {
  std::int64_t length;
  double eps;
  const T* in;
  const Compute<T>*weight, *bias;
  T* out;
  Compute<T>*mean, *inv_std;
  template <class Team>
  HD void operator()(const Team& team, std::int64_t row) const {
    using C = Compute<T>;
    const T* const x = in + row * length;
    const C *const w = weight, *const b = bias;
    T* const y = out + row * length;
    const double n = static_cast<double>(length);
    const C centre = static_cast<C>(team.sum(length, [=](std::int64_t c) { return x[c]; }) / n);
    const double squares = team.sum(length, [=](std::int64_t c) { return (x[c] - centre) * (x[c] - centre); });
    const C inverse = static_cast<C>(1 / std::sqrt(squares / n + eps));
    team.each(length, [=](std::int64_t c) { y[c] = (x[c] - centre) * inverse * w[c] + b[c]; });
    if (team.leads()) {
      mean[row] = centre;
      inv_std[row] = inverse;
    }
  }
};

/// With h = (x - mean) * inv_std: dx = inv_std * (g - mean(g) - h * mean(g * h)) for g = dy * weight.
template <class T>
struct LayerNormGradRow {
  std::int64_t length;
  const T* in;
  const Compute<T>*weight, *mean, *inv_std;
  const T* dy;
  T* out;
  template <class Team>
  HD void operator()(const Team& team, std::int64_t row) const {
    using C = Compute<T>;
    const T *const x = in + row * length, *const g = dy + row * length;
    const C* const w = weight;
    T* const dx = out + row * length;
    const C centre = mean[row], inverse = inv_std[row];
    const double n = static_cast<double>(length);
    const C first = static_cast<C>(team.sum(length, [=](std::int64_t c) { return g[c] * w[c]; }) / n);
    const C second =
        static_cast<C>(team.sum(length, [=](std::int64_t c) { return g[c] * w[c] * ((x[c] - centre) * inverse); }) / n);
    team.each(length,
              [=](std::int64_t c) { dx[c] = inverse * (g[c] * w[c] - first - (x[c] - centre) * inverse * second); });
  }
};

/// Over the rows: dy * (x - mean) * inv_std, and dy.
template <class T>
struct WeightTerms {
  using Terms = std::array<Compute<T>, 2>;
  using Nothing = std::array<Compute<T>, 0>;
  const T *x, *dy;
  const Compute<T>*mean, *inv_std;
  HD Terms terms_of(std::int64_t row, Compute<T> x, Compute<T> dy) const {
    return {dy * ((x - mean[row]) * inv_std[row]), dy};
  }
  HD Terms operator()(std::int64_t row, std::int64_t i, const Nothing&) const { return terms_of(row, x[i], dy[i]); }

  static constexpr int kElements = kPack<T>;
  bool can_pack() const { return lethe::can_pack({x, dy}); }
  template <int V>
  HD void pack(std::int64_t row, std::int64_t i, const Nothing*, Terms* terms) const {
    const Pack<T, V> of_x = load_pack<V>(x + i), of_dy = load_pack<V>(dy + i);
    for (int v = 0; v < V; ++v) terms[v] = terms_of(row, of_x.at[v], of_dy.at[v]);
  }
};

template <class T>
struct StoreWeightGrads {
  T *dweight, *dbias;
  HD void operator()(std::int64_t, std::int64_t c, const std::array<double, 2>& sums) const {
    dweight[c] = static_cast<T>(sums[0]);
    dbias[c] = static_cast<T>(sums[1]);
  }
};

SumExtent rows_of(const Shape& shape) { return {.middle = elements(shape) / shape.back(), .inner = shape.back()}; }

struct LayerNorm {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const SumExtent extent = rows_of(args.in(0).shape);
    const double eps = args.op.attrs.number("eps");
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      using C = Compute<T>;
      return make_kernel([=](const KernelArgs& a) {
        for_each_row(Device{}, a.stream, extent.middle, extent.inner,
                     LayerNormRow<T>{extent.inner, eps, a.in<T>(0), a.in<C>(1), a.in<C>(2), a.out<T>(0), a.out<C>(1),
                                     a.out<C>(2)});
      });
    });
  }
};

struct LayerNormGrad {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const SumExtent extent = rows_of(args.in(0).shape);
    const SumPlan plan = plan_sum(Device{}, args.device, extent, args.in(0).dtype);
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      using C = Compute<T>;
      return make_kernel(
          [=](const KernelArgs& a) {
            const T *x = a.in<T>(0), *dy = a.in<T>(4);
            const C *mean = a.in<C>(2), *inv_std = a.in<C>(3);
            sum_middle(Device{}, a, plan, Columns<T, 0>{}, WeightTerms<T>{x, dy, mean, inv_std},
                       StoreWeightGrads<C>{a.out<C>(1), a.out<C>(2)});
            // Last: dx may stand in the memory of x or dy.
            for_each_row(Device{}, a.stream, extent.middle, extent.inner,
                         LayerNormGradRow<T>{extent.inner, x, a.in<C>(1), mean, inv_std, dy, a.out<T>(0)});
          },
          sum_workspace(plan, 2), bytes_of(args.in(0)) + bytes_of(args.in(4)));
    });
  }
};

Type row_of(const Var& x) { return {{x.shape.back()}, wide_of(x.dtype)}; }
Type one_a_row(const Var& x) { return {Shape(x.shape.begin(), x.shape.end() - 1), wide_of(x.dtype)}; }

std::vector<Type> infer_layer_norm(const InferArgs& args) {
  const Var& x = args.in(0);
  check(!x.shape.empty(), "layer_norm: the input is a scalar");
  const double eps = args.op.attrs.number("eps");
  check(eps >= 0, "layer_norm: eps is ", eps, ", expected at least 0");
  for (const int slot : {1, 2}) check_input(args, slot, row_of(x));
  return {{x.shape, x.dtype}, one_a_row(x), one_a_row(x)};
}

std::vector<Type> infer_layer_norm_grad(const InferArgs& args) {
  const Var& x = args.in(0);
  check(!x.shape.empty(), "layer_norm_grad: x is a scalar");
  check_input(args, 1, row_of(x));
  for (const int slot : {2, 3}) check_input(args, slot, one_a_row(x));
  check_input(args, 4, {x.shape, x.dtype});
  return {{x.shape, x.dtype}, row_of(x), row_of(x)};
}

void layer_norm_gradient(GradBuilder& g) {
  check(g.dy(0) != kNone && g.dy(1) == kNone && g.dy(2) == kNone,
        "layer_norm: no gradient through mean and inv_std as outputs");
  const std::vector<VarId> grads =
      g.call_all("layer_norm_grad", {g.x(0), g.x(1), g.y(1), g.y(2), g.dy()}, {}, {g.x(0), g.x(1), g.x(2)});
  for (int slot = 0; slot < 3; ++slot) g.set(slot, grads[slot]);
}

const Register layer_norm{{
    .type = "layer_norm",
    .inputs = {"x", "weight", "bias"},
    .outputs = {"y", "mean", "inv_std"},
    .infer = infer_layer_norm,
    .grad = layer_norm_gradient,
    .inplace = {{.in = 0, .out = 0}},
    .kernels = each_device<LayerNorm>(),
    .layer =
        {.name = "layer_norm",
         .aliases = {"LayerNormalization"},
         .keys = {{.name = "eps", .type = KeyType::Number, .absent = 1e-5, .min = 0, .help = "added to the variance"}},
         .build =
             [](LayerCall& c) {
               const Shape last{c.channels()};
               const VarId weight = c.wide_param("weight", last, {.kind = Init::Constant, .value = 1}, false);
               const VarId bias = c.wide_param("bias", last, {.kind = Init::Constant, .value = 0}, false);
               return c.emit("layer_norm", {c.in(), weight, bias}, {{"eps", c.settings().number("eps")}});
             },
         .help = "normalise each row over its channels"},
}};

const Register layer_norm_grad{{
    .type = "layer_norm_grad",
    .inputs = {"x", "weight", "mean", "inv_std", "dy"},
    .outputs = {"dx", "dweight", "dbias"},
    .infer = infer_layer_norm_grad,
    .inplace = {{.in = 0, .out = 0}, {.in = 4, .out = 0}},
    .kernels = each_device<LayerNormGrad>(),
}};

}  // namespace
}  // namespace lethe
