// y = x in another dtype. Floats become whole numbers by cutting the fraction off; what is too large becomes the
// nearest that fits, NaN becomes 0. bf16 and f16 round to nearest even. Whole numbers that do not fit wrap around.
#include <algorithm>
#include <limits>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/language/op_def.h"
#include "kernels/dtypes.h"
#include "kernels/group.h"
#include "kernels/packs.h"
#include "kernels/quantized/dequantize.h"

namespace lethe {
namespace {

/// x cut to a whole number that T holds.
template <class T, class From>
HD T whole_of(From x) {
  constexpr T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  if (!(x >= static_cast<From>(least))) return x != x ? T(0) : least;
  return x >= static_cast<From>(most) ? most : static_cast<T>(x);
}

template <class To, class From>
HD To converted(From x) {
  if constexpr (!std::is_same_v<From, Compute<From>>)
    return converted<To>(compute(x));
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
    return whole_of<To>(x);
  else
    return static_cast<To>(x);
}

template <class To, class From>
struct CastIndex {
  const From* x;
  To* y;
  HD void operator()(std::int64_t i) const { y[i] = converted<To>(x[i]); }
  template <int V>
  HD void pack(std::int64_t i) const {
    const Pack<From, V> from = load_pack<V>(x + i);
    Pack<To, V> to;
    for (int k = 0; k < V; ++k) to.at[k] = converted<To>(from[k]);
    store_pack(y + i, to);
  }
  /// A pack of the narrower type, but no more than two of the wider one.
  static constexpr int kTogether = std::min(std::max(kPack<From>, kPack<To>), 2 * std::min(kPack<From>, kPack<To>));
};

/// On a GPU those from f32 to one low float, as weights have, are done in one launch.
template <class Device, class From, class To>
class CastKernel final : public Kernel {
 public:
  explicit CastKernel(std::int64_t n) : n_(n) {}
  void run(const KernelArgs& a) const override {
    const Index index = index_of(a);
    for_each_pack<Index::kTogether>(Device{}, a.stream, n_, can_pack({index.x, index.y}), index);
  }
#ifdef LETHE_DEVICE_CODE
  bool groups_with(const Kernel& other) const override {
    return kGroups && dynamic_cast<const CastKernel*>(&other) != nullptr;
  }
  void run_group(std::span<const KernelCall> calls) const override {
    if constexpr (!kGroups) {
      Kernel::run_group(calls);
    } else {
      using Packs = PackIndex<Index, Index::kTogether>;
      GroupedLaunches<Packs> launches(calls[0].args.stream);
      for (const KernelCall& call : calls) {
        const Index index = index_of(call.args);
        const Packs packs(static_cast<const CastKernel&>(*call.kernel).n_, can_pack({index.x, index.y}), index);
        launches.add(packs.size(), packs);
      }
      launches.flush();
    }
  }
#endif

 private:
  using Index = CastIndex<To, From>;
  static constexpr bool kGroups = !std::is_same_v<Device, Cpu> && std::is_same_v<From, float> &&
                                  std::is_same_v<Compute<To>, float> && !std::is_same_v<To, float>;
  static Index index_of(const KernelArgs& a) { return {a.in<From>(0), a.out<To>(0)}; }

  std::int64_t n_;
};

/// Of a weight in blocks.
template <class Device>
std::unique_ptr<Kernel> prepare_dequantize(const Var& x, DType dtype) {
  const BlockedWeight weight{x.dtype, x.shape};
  return for_float(dtype, [&](auto zero) {
    using T = decltype(zero);
    return make_kernel([weight, n = elements(x.shape)](const KernelArgs& a) {
      dequantize(Device{}, a.stream, weight, a.inputs[0], 0, n, a.out<T>(0));
    });
  });
}

struct Cast {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    if (is_in_blocks(args.in(0).dtype)) return prepare_dequantize<Device>(args.in(0), args.out(0).dtype);
    return for_number(args.in(0).dtype, [&](auto from) {
      return for_number(args.out(0).dtype, [&](auto to) -> std::unique_ptr<Kernel> {
        return std::make_unique<CastKernel<Device, decltype(from), decltype(to)>>(elements(args.out(0).shape));
      });
    });
  }
};

void cast_grad(GradBuilder& g) {
  const DType from = g.var(g.x(0)).dtype;
  if (g.var(g.x(0)).kind == Kind::Param && gradient_dtype(g.var(g.x(0))) == g.var(g.dy()).dtype)
    return g.set(0, g.dy());
  g.set(0, "cast", {g.dy()}, {{"dtype", std::string(name_of(from))}});
}

const Register cast{{
    .type = "cast",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = [](const InferArgs& args) -> std::vector<Type> {
      const DType from = args.in(0).dtype, to = dtype_named(args.op.attrs.text("dtype"));
      check(!is_in_blocks(to) && (!is_in_blocks(from) || is_float(to)), "cast: makes no ", name_of(to), " of ",
            name_of(from));
      return {{args.in(0).shape, to}};
    },
    .grad = cast_grad,
    .along = Along::Elements,
    .copies = Kind::Param,
    .kernels = each_device<Cast>(),
    .layer = {.name = "cast",
              .aliases = {"Cast"},
              .keys = {{.name = "dtype",
                        .type = KeyType::Choice,
                        .help = "that the values become",
                        .choices = {"f32", "f64", "bf16", "f16", "i32", "i64", "u8"}}},
              .build =
                  [](LayerCall& c) {
                    return c.emit("cast", {c.in()}, {{"dtype", c.settings().text("dtype")}});
                  },
              .help = "its input in another dtype"},
}};

}  // namespace
}  // namespace lethe
