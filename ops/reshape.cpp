// The same memory under another shape. One size may be -1: whatever is left.
#include "framework/autodiff.h"
#include "framework/error.h"
#include "framework/op_def.h"

namespace lethe {
namespace {

std::vector<Type> infer_reshape(const InferArgs& args) {
  const Var& x = args.in(0);
  Shape shape = args.op.attrs.ints("shape");
  std::int64_t known = 1, *open = nullptr;
  for (std::int64_t& size : shape) {
    check(size > 0 || (size == -1 && !open), "reshape: shape ", text_of(shape), " needs positive sizes, one may be -1");
    if (size == -1)
      open = &size;
    else
      known *= size;
  }
  if (open && elements(x.shape) % known == 0) *open = elements(x.shape) / known;
  check(elements(shape) == elements(x.shape), "reshape: ", text_of(x.shape), " has ", elements(x.shape),
        " elements, they do not fill ", text_of(args.op.attrs.ints("shape")));
  return {{shape, x.dtype}};
}

VarId build_reshape(LayerCall& c) {
  Shape shape = c.settings().ints("shape");
  if (c.settings().flag("batch")) return c.emit("reshape", {c.in()}, {{"shape", shape}});
  if (shape.size() == 3) shape = {shape[1], shape[2], shape[0]};
  shape.insert(shape.begin(), c.shape()[0]);
  return c.emit("reshape", {c.in()}, {{"shape", shape}});
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
    .view = true,
    .layer = {.name = "reshape",
              .aliases = {"Reshape"},
              .keys = {{.name = "shape",
                        .type = KeyType::IntList,
                        .min = -1,
                        .help = "of a sample, images [C, H, W]; one size may be -1"},
                       {.name = "batch",
                        .type = KeyType::Bool,
                        .absent = 0,
                        .help = "shape is the whole one, the batch too: [-1, 64] makes rows of sequences"}},
              .build = build_reshape,
              .help = "another shape for each sample; elements stay in the order h, w, c"},
}};

}  // namespace
}  // namespace lethe
