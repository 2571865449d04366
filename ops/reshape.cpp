// The same memory under another shape. One size may be -1: whatever is left.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/checked.h"
#include "framework/language/op_def.h"

namespace lethe {
namespace {

std::vector<Type> infer_reshape(const InferArgs& args) {
  const Var& x = args.in(0);
  const Shape& wanted = args.op.attrs.ints("shape");
  Shape shape = wanted;
  std::int64_t known = 1, *open = nullptr;
  for (std::int64_t& size : shape) {
    check(size > 0 || (size == -1 && !open), "reshape: shape ", shortened(text_of(wanted)),
          " needs positive sizes, one may be -1");
    if (size == -1)
      open = &size;
    else
      known = checked_mul(known, size, "reshape: the number of elements");
  }
  const std::int64_t given = elements(x.shape);
  if (open && given % known == 0) *open = given / known;
  check((!open || *open >= 0) && elements(shape) == given, "reshape: ", text_of(x.shape), " has ", given,
        " elements, they do not fill ", shortened(text_of(wanted)));
  return {{shape, x.dtype}};
}

VarId build_reshape(LayerCall& c) {
  Shape shape = c.settings().ints("shape");
  if (!c.settings().flag("batch")) shape.insert(shape.begin(), c.batch());
  check(!shape.empty(), "reshape: shape [] has no batch");
  const Layout layout = c.layout_of(Shape(shape.begin() + 1, shape.end()));
  return c.lay_out(c.emit("reshape", {c.in()}, {{"shape", memory_shape(shape, layout)}}), layout);
}

const Register reshape{{
    .type = "reshape",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = infer_reshape,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "reshape", {g.dy()}, {{"shape", g.var(g.x(0)).shape}});
        },
    .view = ViewOf::Whole,
    .along = Along::Elements,
    .layer = {.name = "reshape",
              .aliases = {"Reshape"},
              .keys = {{.name = "shape",
                        .type = KeyType::IntList,
                        .min = -1,
                        .help = "of a sample, images [C, H, W]; one size may be -1"},
                       {.name = "batch",
                        .type = KeyType::Bool,
                        .absent = 0,
                        .help = "shape is the whole one, the batch too: [-1, 64] makes rows of sequences"},
                       layout_key()},
              .build = build_reshape,
              .help = "another shape for each sample; elements stay in the order h, w, c"},
}};

}  // namespace
}  // namespace lethe
