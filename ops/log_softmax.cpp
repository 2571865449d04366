// y[n, c] = x[n, c] - log(sum over c of exp(x[n, c])) along the last axis. The gradient reads y.
#include <cmath>

#include "framework/autodiff.h"
#include "framework/op_def.h"
#include "kernels/reduce/rows.h"

namespace lethe {
namespace {

template <class T>
struct LogSoftmaxRow {
  std::int64_t length;
  const T* in;
  T* out;
  template <class Team>
  HD void operator()(const Team& team, std::int64_t row) const {
    const T* const x = in + row * length;
    T* const y = out + row * length;
    const Compute<T> most = team.max(length, [=](std::int64_t c) { return x[c]; });
    const double total = team.sum(length, [=](std::int64_t c) { return std::exp(x[c] - most); });
    const Compute<T> log_total = static_cast<Compute<T>>(std::log(total));
    team.each(length, [=](std::int64_t c) { y[c] = x[c] - most - log_total; });
  }
};

/// dx = dy - exp(y) * sum over c of dy.
template <class T>
struct LogSoftmaxGradRow {
  std::int64_t length;
  const T *y, *dy;
  T* dx;
  template <class Team>
  HD void operator()(const Team& team, std::int64_t row) const {
    const T *const p = y + row * length, *const g = dy + row * length;
    T* const to = dx + row * length;
    const Compute<T> total = static_cast<Compute<T>>(team.sum(length, [=](std::int64_t c) { return g[c]; }));
    team.each(length, [=](std::int64_t c) { to[c] = g[c] - std::exp(p[c]) * total; });
  }
};

const Register log_softmax{{
    .type = "log_softmax",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = same_rows_as_first,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "log_softmax_grad", {g.y(), g.dy()});
        },
    .inplace = {{.in = 0, .out = 0}},
    .kernels = map_rows<LogSoftmaxRow, 1>(),
    .layer = {.name = "log_softmax",
              .aliases = {"LogSoftmax"},
              .build = [](LayerCall& c) { return c.emit("log_softmax", {c.in()}); },
              .help = "logarithms of the probabilities along the channels"},
}};

const Register log_softmax_grad{{
    .type = "log_softmax_grad",
    .inputs = {"y", "dy"},
    .outputs = {"dx"},
    .infer = same_as_first,
    .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}},
    .kernels = map_rows<LogSoftmaxGradRow, 2>(),
}};

}  // namespace
}  // namespace lethe
