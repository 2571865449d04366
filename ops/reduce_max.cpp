// The largest element over the axes named by `axes` (counted in the shape as it is in memory; none: all). NaN wins. As
// PyTorch's amax the gradient of each goes to the elements that are it, in equal shares.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/builder/settings.h"
#include "kernels/reduce/fold.h"

namespace lethe {
namespace {

const Register reduce_max{{
    .type = "reduce_max",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = infer_reduction,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "reduce_extreme_grad", {g.x(0), g.y(), g.dy()}, g.attrs());
        },
    .along = Along::Elements,
    .kernels = each_device<ReduceBy<Larger>>(),
    .layer = {.name = "reduce_max",
              .aliases = {"ReduceMax"},
              .keys = reduction_keys(),
              .build = [](LayerCall& c) { return c.emit("reduce_max", {c.in()}, reduction_attrs(c)); },
              .help = "the largest element over some axes or all"},
}};

const RegisterLayer global_max_pool{{
    .name = "global_max_pool",
    .aliases = {"GlobalMaxPool"},
    .build =
        [](LayerCall& c) {
          c.image();
          return c.emit("reduce_max", {c.in()}, {{"axes", Ints{1, 2}}, {"keep_dims", false}});
        },
    .help = "the largest of each channel over the image: [C, H, W] to [C]",
}};

}  // namespace
}  // namespace lethe
