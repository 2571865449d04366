// y[n, c] = exp(x[n, c]) / sum over c of exp(x[n, c]) along the last axis. The gradient reads y.
#include <cmath>

#include "framework/autodiff.h"
#include "framework/op_def.h"
#include "kernels/reduce_rows.h"

namespace lethe {
namespace {

template <class T>
struct SoftmaxRow {
  std::int64_t length;
  const T* in;
  T* out;
  template <class Team>
  HD void operator()(const Team& team, std::int64_t row) const {
    const T* const x = in + row * length;
    T* const y = out + row * length;
    const Compute<T> most = team.max(length, [=](std::int64_t c) { return x[c]; });
    const double total = team.sum(length, [=](std::int64_t c) { return std::exp(x[c] - most); });
    const Compute<T> inverse = static_cast<Compute<T>>(1 / total);
    team.each(length, [=](std::int64_t c) { y[c] = std::exp(x[c] - most) * inverse; });
  }
};

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
    .infer = same_rows_as_first,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "softmax_grad", {g.y(), g.dy()});
        },
    .inplace = {{.in = 0, .out = 0}},
    .kernels = map_rows<SoftmaxRow, 1>(),
    .layer = {.name = "softmax",
              .aliases = {"Softmax"},
              .build = [](LayerCall& c) { return c.emit("softmax", {c.in()}); },
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
