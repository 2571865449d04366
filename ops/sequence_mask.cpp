// y[t, n, ..] = 1 where t < lengths[n], else 0, in `shape` [T, N, 1..]: which steps of padded sequences count.
#include "framework/builder/layer_call.h"
#include "framework/error.h"
#include "framework/language/op_def.h"
#include "kernels/dtypes.h"
#include "kernels/each_device.h"

namespace lethe {
namespace {

template <class T, class Length>
struct MaskIndex {
  std::int64_t samples;
  const Length* lengths;
  T* y;
  HD void operator()(std::int64_t i) const { y[i] = static_cast<T>(i / samples < lengths[i % samples]); }
};

template <class Body>
auto for_length(DType dtype, const Body& body) {
  return dtype == DType::i32 ? body(std::int32_t{}) : body(std::int64_t{});
}

struct SequenceMask {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const std::int64_t n = elements(args.out(0).shape), samples = args.in(0).shape[0];
    return for_number(args.out(0).dtype, [&](auto zero) {
      return for_length(args.in(0).dtype, [&](auto length) {
        using T = decltype(zero);
        using Length = decltype(length);
        return make_kernel([=](const KernelArgs& a) {
          parallel_for(Device{}, a.stream, n, MaskIndex<T, Length>{samples, a.in<Length>(0), a.out<T>(0)});
        });
      });
    });
  }
};

std::vector<Type> infer_sequence_mask(const InferArgs& args) {
  const Var& lengths = args.in(0);
  const Attrs& attrs = args.op.attrs;
  check(lengths.shape.size() == 1 && (lengths.dtype == DType::i32 || lengths.dtype == DType::i64),
        "sequence_mask: lengths are ", text_of(lengths), ", expected i32[N] or i64[N]");
  const Shape& shape = attrs.ints("shape");
  check(shape.size() >= 2 && shape[1] == lengths.shape[0] && elements(shape) == shape[0] * shape[1],
        "sequence_mask: shape is ", text_of(shape), ", expected [T,", lengths.shape[0], ",1...]");
  return {{shape, dtype_named(attrs.text("dtype"))}};
}

VarId build_sequence_mask(LayerCall& c) {
  const std::int64_t length = c.settings().integer("length");
  Shape shape{length, c.batch()};
  DType dtype = DType::u8;
  if (c.inputs() == 2) {
    shape.resize(c.shape(1).size() + 1, 1);
    dtype = c.var(c.in(1)).dtype;
  }
  const VarId mask = c.emit("sequence_mask", {c.in(0)}, {{"shape", shape}, {"dtype", std::string(name_of(dtype))}});
  return c.inputs() == 2 && c.is_image(c.in(1)) ? c.lay_out(mask, Layout::Image) : mask;  // it broadcasts over them
}

const Register sequence_mask{{
    .type = "sequence_mask",
    .inputs = {"lengths"},
    .outputs = {"y"},
    .infer = infer_sequence_mask,
    .kernels = each_device<SequenceMask>(),
    .layer = {.name = "sequence_mask",
              .keys = {{.name = "length", .type = KeyType::Int, .min = 1, .help = "steps of the longest sequence"}},
              .min_inputs = 1,
              .max_inputs = 2,
              .build = build_sequence_mask,
              .help =
                  "1 in the steps that a sample has, by its length, else 0: u8 [length, N]; with a second input its "
                  "dtype and [length, N, 1...], an entry of which broadcasts over it"},
}};

}  // namespace
}  // namespace lethe
