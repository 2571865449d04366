// Sum over the axes named by `axes` (counted in the shape as it is in memory; none: all).
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "kernels/reduce/axes_kernels.h"

namespace lethe {
namespace {

const Register sum{{
    .type = "sum",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = infer_reduction,
    .grad =
        [](GradBuilder& g) { g.set(0, "sum_grad", {g.dy()}, reduction_grad_attrs(g.attrs(), g.var(g.x(0)).shape)); },
    .along = Along::Elements,
    .kernels = each_device<ReduceAxes<false>>(),
    .layer = {.name = "sum",
              .aliases = {"ReduceSum"},
              .keys = reduction_keys(),
              .build = [](LayerCall& c) { return c.emit("sum", {c.in()}, reduction_attrs(c)); },
              .help = "sum over some axes or all"},
}};

const Register sum_grad{{
    .type = "sum_grad",
    .inputs = {"dy"},
    .outputs = {"dx"},
    .infer = infer_reduction_grad,
    .kernels = each_device<ReduceAxesGrad<false>>(),
}};

}  // namespace
}  // namespace lethe
