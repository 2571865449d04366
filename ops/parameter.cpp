// A learned tensor, which as it is broadcasts over the batch, or a copy of it for each sample. It has no op of its own.
#include "framework/builder/layer_call.h"
#include "framework/error.h"
#include "kernels/broadcast.h"

namespace lethe {
namespace {

VarId build_parameter(LayerCall& c) {
  Shape shape = c.settings().ints("shape");
  const Layout layout = c.layout_of(shape);
  shape.insert(shape.begin(), 1);
  shape = memory_shape(std::move(shape), layout);
  const std::int64_t outputs = shape.back(), inputs = elements(shape) / outputs;
  const Init init = c.init("init", {.kind = Init::Normal, .value = 0.02, .fan_in = inputs, .fan_out = outputs});
  const FileLayout in_file{layout == Layout::Image ? FileLayout::Conv : FileLayout::Same};
  const bool trains = c.settings().flag("trainable");
  const VarId weight =
      trains ? c.param("weight", shape, init, false, in_file) : c.fixed_param("weight", shape, in_file);
  const VarId value = c.lay_out(weight, layout);
  if (!c.settings().flag("expand")) return value;
  check(!c.shape().empty(), "parameter: the input is a scalar, of no batch");
  Shape all = shape;
  all[0] = c.batch();
  return c.lay_out(c.emit("expand", {value}, expansion(shape, all)), layout);
}

const RegisterLayer parameter{{
    .name = "parameter",
    .keys = {{.name = "shape",
              .type = KeyType::IntList,
              .min = 1,
              .help = "of what each sample sees, images [C, H, W]; in files a 1 stands before it"},
             {.name = "init", .type = KeyType::Init, .help = "default normal:0.02", .optional = true},
             {.name = "expand",
              .type = KeyType::Bool,
              .absent = 0,
              .help = "a copy for each sample of the input, as concat needs; add and mul broadcast without"},
             {.name = "trainable",
              .type = KeyType::Bool,
              .absent = 1,
              .help = "false: training leaves it as it is, such as a mask"},
             layout_key()},
    .build = build_parameter,
    .help = "a learned tensor, such as positions or a class token, the same for all samples",
}};

}  // namespace
}  // namespace lethe
