// y[n, ..] = weight[0, ..] for each of `batch` samples. As a layer: a learned tensor, which as it is broadcasts over
// the batch, or this copy of it for each sample.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/language/op_def.h"
#include "kernels/broadcast.h"
#include "kernels/copy_parts.h"

namespace lethe {
namespace {

struct ForEachSample {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    return copy_parts<Device>(args, {{.box = broadcast_box(args.out(0).shape, args.in(0).shape)}});
  }
};

std::vector<Type> infer_parameter(const InferArgs& args) {
  const Var& weight = args.in(0);
  const std::int64_t batch = args.op.attrs.integer("batch");
  check(!weight.shape.empty() && weight.shape[0] == 1, "parameter: ", text_of(weight), " is not of one sample");
  check(batch >= 1, "parameter: batch is ", batch, ", expected at least 1");
  Shape shape = weight.shape;
  shape[0] = batch;
  return {{shape, weight.dtype}};
}

VarId build_parameter(LayerCall& c) {
  Shape shape = c.settings().ints("shape");
  const Layout layout = c.layout_of(shape);
  shape.insert(shape.begin(), 1);
  shape = memory_shape(std::move(shape), layout);
  const std::int64_t outputs = shape.back(), inputs = elements(shape) / outputs;
  const Init init = c.init("init", {.kind = Init::Normal, .value = 0.02, .fan_in = inputs, .fan_out = outputs});
  const FileLayout in_file{layout == Layout::Image ? FileLayout::Conv : FileLayout::Same};
  const VarId value = c.lay_out(c.param("weight", shape, init, false, in_file), layout);
  if (!c.settings().flag("expand")) return value;
  check(!c.shape().empty(), "parameter: the input is a scalar, of no batch");
  return c.lay_out(c.emit("parameter", {value}, {{"batch", c.shape()[0]}}), layout);
}

const Register parameter{{
    .type = "parameter",
    .inputs = {"weight"},
    .outputs = {"y"},
    .infer = infer_parameter,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "sum_to", {g.dy()}, {{"shape", g.var(g.x(0)).shape}});
        },
    .along = Along::Elements,
    .kernels = each_device<ForEachSample>(),
    .layer = {.name = "parameter",
              .keys = {{.name = "shape",
                        .type = KeyType::IntList,
                        .min = 1,
                        .help = "of what each sample sees, images [C, H, W]; in files a 1 stands before it"},
                       {.name = "init", .type = KeyType::Init, .help = "default normal:0.02", .optional = true},
                       {.name = "expand",
                        .type = KeyType::Bool,
                        .absent = 0,
                        .help = "a copy for each sample of the input, as concat needs; add and mul broadcast without"},
                       layout_key()},
              .build = build_parameter,
              .help = "a learned tensor, such as positions or a class token, the same for all samples"},
}};

}  // namespace
}  // namespace lethe
