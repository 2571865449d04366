// y = log(x), natural, whose gradient is dy / x.
#include <cmath>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/language/op_def.h"
#include "kernels/map.h"

namespace lethe {
namespace {

struct Log {
  template <class T>
  HD T operator()(T x) const {
    return std::log(x);
  }
};

const Register log{{
    .type = "log",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = same_as_first,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "div", {g.dy(), g.x(0)});
        },
    .inplace = {{.in = 0, .out = 0}},
    .kernels = map<Log, 1>(),
    .layer = {.name = "log",
              .aliases = {"Log"},
              .build = [](LayerCall& c) { return c.emit("log", {c.in()}); },
              .help = "natural logarithm"},
}};

}  // namespace
}  // namespace lethe
