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
              .keys = {{.name = "axis",
                        .type = KeyType::Axis,
                        .help = "one axis; without it: all, the batch too",
                        .optional = true},
                       {.name = "keep", .type = KeyType::Bool, .absent = false, .help = "keep the axis, with size 1"}},
              .build =
                  [](LayerCall& c) {
                    Attrs attrs{{"keep_dims", c.settings().flag("keep")}};
                    if (c.settings().has("axis")) attrs.set("axes", Ints{c.axis("axis")});
                    return c.emit("mean", {c.in()}, attrs);
                  },
              .help = "mean over one axis or all"},
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
