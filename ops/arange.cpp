// y[0, i] = start + i * step, `length` of them: one row, which broadcasts over the batch.
#include <algorithm>

#include "framework/builder/layer_call.h"
#include "framework/checked.h"
#include "framework/language/op_def.h"
#include "kernels/dtypes.h"
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

/// The whole numbers of which each, and each between them, has a value of its own.
struct WholeNumbers {
  std::int64_t first, last;
};
WholeNumbers whole_numbers_of(DType dtype) {
  const auto up_to_bits = [](int bits) { return WholeNumbers{-(std::int64_t{1} << bits), std::int64_t{1} << bits}; };
  switch (dtype) {
    case DType::f64:
      return up_to_bits(53);
    case DType::f32:
      return up_to_bits(24);
    case DType::f16:
      return up_to_bits(11);
    case DType::bf16:
      return up_to_bits(8);
    case DType::u8:
      return {0, UINT8_MAX};
    case DType::i32:
      return {INT32_MIN, INT32_MAX};
    default:
      return {INT64_MIN, INT64_MAX};
  }
}

std::vector<Type> infer_arange(const InferArgs& args) {
  const Attrs& attrs = args.op.attrs;
  const DType dtype = dtype_named(attrs.text("dtype"));
  const std::int64_t start = attrs.integer("start"), length = attrs.integer("length");
  check(length >= 1, "arange: length is ", length, ", expected at least 1");
  const char* const what = "arange: the last number";
  const std::int64_t last = checked_add(start, checked_mul(length - 1, attrs.integer("step"), what), what);
  const WholeNumbers held = whole_numbers_of(dtype);
  check(std::min(start, last) >= held.first && std::max(start, last) <= held.last, "arange: ", name_of(dtype),
        " does not hold all whole numbers from ", start, " to ", last);
  return {{{1, length}, dtype}};
}

constexpr double kMost = INT32_MAX;  // so what a network file states is in 64 bits, whatever becomes of it

VarId build_arange(LayerCall& c) {
  const Attrs& settings = c.settings();
  const std::int64_t start = settings.integer("start"), end = settings.integer("end"), step = settings.integer("step");
  check(step != 0 && end != start && (end > start) == (step > 0), "arange: no number from ", start, " to below ", end,
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
              .keys = {{.name = "end", .min = -kMost, .max = kMost, .help = "where it stops; not among them"},
                       {.name = "start", .absent = 0, .min = -kMost, .max = kMost},
                       {.name = "step", .absent = 1, .min = -kMost, .max = kMost},
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
