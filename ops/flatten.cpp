// Each sample as one row: [N, ...] becomes [N, rest], in the order h, w, c. The same memory.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/error.h"
#include "framework/language/op_def.h"

namespace lethe {
namespace {

std::vector<Type> infer_flatten(const InferArgs& args) {
  const Var& x = args.in(0);
  check(!x.shape.empty(), "flatten: the input is a scalar");
  return {{{x.shape[0], elements(x.shape) / x.shape[0]}, x.dtype}};
}

const Register flatten{{
    .type = "flatten",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = infer_flatten,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "reshape", {g.dy()}, {{"shape", g.var(g.x(0)).shape}});
        },
    .view = ViewOf::Whole,
    .layer = {.name = "flatten",
              .aliases = {"Flatten"},
              .build = [](LayerCall& c) { return c.emit("flatten", {c.in()}); },
              .help = "each sample as one row"},
}};

}  // namespace
}  // namespace lethe
