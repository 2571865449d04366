// Mean over the axes named by `axes` (counted in the shape as it is in memory; none: all).
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "kernels/reduce/axes_kernels.h"

namespace lethe {
namespace {

const Register mean{{
    .type = "mean",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = infer_reduction,
    .grad =
        [](GradBuilder& g) { g.set(0, "mean_grad", {g.dy()}, reduction_grad_attrs(g.attrs(), g.var(g.x(0)).shape)); },
    .along = Along::Elements,
    .kernels = each_device<ReduceAxes<true>>(),
    .layer = {.name = "mean",
              .aliases = {"ReduceMean"},
              .keys = reduction_keys(),
              .build = [](LayerCall& c) { return c.emit("mean", {c.in()}, reduction_attrs(c)); },
              .help = "mean over some axes or all"},
}};

const Register mean_grad{{
    .type = "mean_grad",
    .inputs = {"dy"},
    .outputs = {"dx"},
    .infer = infer_reduction_grad,
    .kernels = each_device<ReduceAxesGrad<true>>(),
}};

}  // namespace
}  // namespace lethe
