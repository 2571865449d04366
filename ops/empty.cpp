// y: memory of `shape` and `dtype` that nobody wrote yet; other ops write it in place, entry by entry. As a layer it is
// an array of zeros, since a network may read what it never wrote.
#include "framework/builder/layer_call.h"
#include "framework/error.h"
#include "framework/language/op_def.h"
#include "kernels/each_device.h"

namespace lethe {
namespace {

struct Empty {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs&) {
    return make_kernel([](const KernelArgs&) {});
  }
};

VarId build_array(LayerCall& c) {
  const std::int64_t length = c.settings().integer("length");
  Shape shape = c.settings().ints("shape", {});
  const Layout layout = c.layout_of(shape);
  shape.insert(shape.begin(), {length, c.batch()});
  const std::string dtype(name_of(c.var(c.in()).dtype));
  const Attrs zeros{{"shape", memory_shape(shape, layout)}, {"dtype", dtype}, {"value", 0.0}};
  return c.lay_out(c.emit("fill_constant", {}, zeros), layout);
}

const Register empty{{
    .type = "empty",
    .outputs = {"y"},
    .infer =
        [](const InferArgs& args) {
          const Attrs& attrs = args.op.attrs;
          return std::vector<Type>{{attrs.ints("shape"), dtype_named(attrs.text("dtype"))}};
        },
    .kernels = each_device<Empty>(),
    .layer = {.name = "array",
              .keys = {{.name = "length", .type = KeyType::Int, .min = 1, .help = "entries"},
                       {.name = "shape",
                        .type = KeyType::IntList,
                        .min = 1,
                        .help = "of a sample in an entry, images [C, H, W]; default: one number",
                        .optional = true},
                       layout_key()},
              .build = build_array,
              .help = "zeros for array_write and array_read, [length, N, shape...], of the dtype of the input"},
}};

}  // namespace
}  // namespace lethe
