// y[n, c] = exp(x[n, c]) / sum over c of exp(x[n, c]) along the last axis. With the attribute `causal` row t of each
// matrix [.., T, T] has columns 0 to t alone, and zeros behind. The gradient reads y, whose zeros give none.
#include <cmath>

#include "framework/autodiff.h"
#include "framework/op_def.h"
#include "kernels/dtypes.h"
#include "kernels/reduce/rows.h"

namespace lethe {
namespace {

template <class T>
struct SoftmaxRow {
  std::int64_t length, steps;  // steps: rows of a matrix, if causal, else 0
  const T* in;
  T* out;
  template <class Team>
  HD void operator()(const Team& team, std::int64_t row) const {
    const T* const x = in + row * length;
    T* const y = out + row * length;
    const std::int64_t seen = steps > 0 ? row % steps + 1 : length;
    const Compute<T> most = team.max(seen, [=](std::int64_t c) { return x[c]; });
    const double total = team.sum(seen, [=](std::int64_t c) { return std::exp(x[c] - most); });
    const Compute<T> inverse = static_cast<Compute<T>>(1 / total);
    team.each(seen, [=](std::int64_t c) { y[c] = std::exp(x[c] - most) * inverse; });
    team.each(length - seen, [=](std::int64_t c) { y[seen + c] = T(0); });
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
        for_each_row(Device{}, a.stream, rows, length, SoftmaxRow<T>{length, steps, a.in<T>(0), a.out<T>(0)});
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
  if (!c.settings().flag("causal")) return c.emit("softmax", {c.in()});
  check(c.shape().size() >= 3, "softmax: ", text_of(c.shape()), " is no batch of scores [.., T, T] to be causal");
  return c.emit("softmax", {c.in()}, {{"causal", 1}});
}

/// dx = y * (dy - sum over c of y * dy).
template <class T>
struct SoftmaxGradRow {
  std::int64_t length;
  const T *y, *dy;
  T* dx;
  template <class Team>
  HD void operator()(const Team& team, std::int64_t row) const {
    const T *const p = y + row * length, *const g = dy + row * length;
    T* const to = dx + row * length;
    const Compute<T> common = static_cast<Compute<T>>(team.sum(length, [=](std::int64_t c) { return p[c] * g[c]; }));
    team.each(length, [=](std::int64_t c) { to[c] = p[c] * (g[c] - common); });
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
    .kernels = each_device<Softmax>(),
    .layer = {.name = "softmax",
              .aliases = {"Softmax"},
              .keys = {{.name = "causal",
                        .type = KeyType::Bool,
                        .absent = 0,
                        .help = "of attention scores [.., T, T]: row t sees columns 0 to t, the others are exactly 0"}},
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
