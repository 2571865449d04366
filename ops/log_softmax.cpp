// y[n, c] = x[n, c] - log(sum over c of exp(x[n, c])) along the last axis. The gradient reads y.
#include <cmath>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/language/op_def.h"
#include "kernels/reduce/map_packed_rows.h"

namespace lethe {
namespace {

template <class T>
struct LogSoftmaxRow {
  template <int V, class Team, class X, class To>
  HD static void run(const Team& team, std::int64_t packs, const X& x, const To& y) {
    const Compute<T> most = team.max(packs, [&](auto i) { return max_in_pack(x[i]); });
    const auto total = team.sum(packs, [&](auto i) {
      const auto of_x = x[i];
      return sum_in_pack<V>([&](int v) { return std::exp(of_x[v] - most); });
    });
    const auto log_total = static_cast<Compute<T>>(std::log(total));
    team.each(packs, [&](auto i) {
      const auto of_x = x[i];
      y.set(i, pack_of<T, V>([&](int v) { return of_x[v] - most - log_total; }));
    });
  }
};

/// dx = dy - exp(y) * sum over c of dy.
template <class T>
struct LogSoftmaxGradRow {
  template <int V, class Team, class Y, class To>
  HD static void run(const Team& team, std::int64_t packs, const Y& y, const Y& dy, const To& dx) {
    const auto total = static_cast<Compute<T>>(team.sum(packs, [&](auto i) {
      const auto g = dy[i];
      return sum_in_pack<V>([&](int v) { return compute(g[v]); });
    }));
    team.each(packs, [&](auto i) {
      const auto p = y[i], g = dy[i];
      dx.set(i, pack_of<T, V>([&](int v) { return g[v] - std::exp(p[v]) * total; }));
    });
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
    .along = Along::Rows,
    .kernels = map_rows<LogSoftmaxRow, 1>(),
    .layer = {.name = "log_softmax",
              .aliases = {"LogSoftmax"},
              .keys = {{.name = "axis",
                        .type = KeyType::Axis,
                        .help = "another axis along which probabilities add up to 1",
                        .optional = true}},
              .build = [](LayerCall& c) { return c.emit_along("axis", "log_softmax"); },
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
