// y[0, i] = start + i * step, `length` of them: one row, which broadcasts over the batch.
#include "framework/error.h"
#include "framework/op_def.h"
#include "kernels/each_device.h"

namespace lethe {
namespace {

template <class T>
struct ArangeIndex {
  T* y;
  std::int64_t start, step;
  HD void operator()(std::int64_t i) const { y[i] = static_cast<T>(static_cast<Compute<T>>(start + i * step)); }
};

struct Arange {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const std::int64_t n = elements(args.out(0).shape);
    const std::int64_t start = args.op.attrs.integer("start"), step = args.op.attrs.integer("step");
    return for_number(args.out(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([=](const KernelArgs& a) {
        parallel_for(Device{}, a.stream, n, ArangeIndex<T>{a.out<T>(0), start, step});
      });
    });
  }
};

std::vector<Type> infer_arange(const InferArgs& args) {
  const Attrs& attrs = args.op.attrs;
  const std::int64_t length = attrs.integer("length");
  check(length >= 1, "arange: length is ", length, ", expected at least 1");
  return {{{1, length}, dtype_named(attrs.text("dtype"))}};
}

VarId build_arange(LayerCall& c) {
  const Attrs& settings = c.settings();
  for (const char* key : {"start", "end", "step"}) {
    const std::int64_t value = settings.integer(key);
    check(value > INT32_MIN && value < INT32_MAX, "arange: ", key, " is ", value, ", expected one that fits i32");
  }
  const std::int64_t start = settings.integer("start"), end = settings.integer("end"), step = settings.integer("step");
  check(step != 0 && (end - start) / step >= 0 && end != start, "arange: no number from ", start, " to below ", end,
        " in steps of ", step);
  const std::int64_t length = (end - start + step - (step > 0 ? 1 : -1)) / step;
  return c.emit("arange", {},
                {{"start", start}, {"step", step}, {"length", length}, {"dtype", settings.text("dtype")}});
}

const Register arange{{
    .type = "arange",
    .outputs = {"y"},
    .infer = infer_arange,
    .kernels = each_device<Arange>(),
    .layer = {.name = "arange",
              .aliases = {"Range"},
              .keys = {{.name = "end", .help = "where it stops; not among them"},
                       {.name = "start", .absent = 0},
                       {.name = "step", .absent = 1},
                       {.name = "dtype",
                        .type = KeyType::Choice,
                        .absent = "i32",
                        .help = "of the numbers",
                        .choices = {"f32", "f64", "bf16", "f16", "i32", "i64"}}},
              .min_inputs = 0,
              .max_inputs = 0,
              .build = build_arange,
              .help = "start, start + step, ... below end, one row [1, n] for all samples"},
}};

}  // namespace
}  // namespace lethe
