// y = x / (1 - p) where the element is kept, else 0 (Srivastava et al., 2014, scaled while training). Whether it is
// kept is a function of seed, key, step and element: no mask is stored, and the gradient is the same op on dy. The
// elements of a part of a batch stand where they do in all of it, from attribute "first_element" on.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/error.h"
#include "framework/language/op_def.h"
#include "framework/random.h"
#include "kernels/dtypes.h"
#include "kernels/packs.h"

namespace lethe {
namespace {

/// Four elements of the stream, as many as one call of the generator decides: group 0 holds element `first`.
template <class T>
struct DropoutGroup {
  const T* x;
  const std::int64_t* step;
  T* y;
  bool packed;
  std::int64_t first, n;  // of the elements, which element of the stream; how many
  std::uint64_t key;
  float p;
  Compute<T> scale;

  HD void operator()(std::int64_t group) const {
    const Philox4 random =
        philox(key, static_cast<std::uint64_t>(*step), static_cast<std::uint64_t>(first / 4 + group));
    const std::int64_t begin = 4 * group - first % 4;  // element of x
    const auto dropped = [&](int i, Compute<T> value) {
      return uniform_of(random.word[i]) >= p ? value * scale : Compute<T>(0);
    };
    if (packed && begin + 4 <= n) {
      Pack<T, 4> four = load_pack<4>(x + begin);
      for (int i = 0; i < 4; ++i) four.at[i] = dropped(i, four.at[i]);
      store_pack(y + begin, four);
    } else {
      for (int i = 0; i < 4; ++i)
        if (begin + i >= 0 && begin + i < n) y[begin + i] = dropped(i, x[begin + i]);
    }
  }
};

struct Dropout {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Attrs& attrs = args.op.attrs;
    const std::int64_t n = elements(args.out(0).shape), first = attrs.integer(kFirstElement, 0);
    const double p = attrs.number("p");
    const std::uint64_t key =
        stream_key(static_cast<std::uint64_t>(attrs.integer("seed")), static_cast<std::uint64_t>(attrs.integer("key")));
    return for_float(args.out(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      DropoutGroup<T> group{
          nullptr, nullptr, nullptr, false, first, n, key, static_cast<float>(p), static_cast<Compute<T>>(1 / (1 - p))};
      return make_kernel([group](const KernelArgs& a) {
        DropoutGroup<T> placed = group;
        placed.x = a.in<T>(0);
        placed.step = a.in<std::int64_t>(1);
        placed.y = a.out<T>(0);
        placed.packed = placed.first % 4 == 0 && can_pack({placed.x, placed.y});
        parallel_for(Device{}, a.stream, (placed.first % 4 + placed.n + 3) / 4, placed, kElementGrain / 16);
      });
    });
  }
};

std::vector<Type> infer_dropout(const InferArgs& args) {
  const double p = args.op.attrs.number("p");
  check(p >= 0 && p < 1, "dropout: p is ", p, ", expected at least 0 and below 1");
  check(args.in(1).shape.empty() && args.in(1).dtype == DType::i64, "dropout: step is ", text_of(args.in(1)),
        ", expected an i64 scalar");
  return same_as_first(args);
}

VarId build_dropout(LayerCall& c) {
  const double p = c.settings().number("p");
  if (!c.training() || p == 0) return c.in();
  return c.emit("dropout", {c.in(), c.step()}, {{"p", p}, {"seed", c.seed()}, {"key", c.stream_key()}});
}

const Register dropout{{
    .type = "dropout",
    .inputs = {"x", "step"},
    .outputs = {"y"},
    .infer = infer_dropout,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "dropout", {g.dy(), g.x(1)}, g.attrs());
        },
    .inplace = {{.in = 0, .out = 0}},
    .random_step = 1,
    .kernels = each_device<Dropout>(),
    .layer =
        {.name = "dropout",
         .aliases = {"Dropout"},
         .keys = {{.name = "p", .type = KeyType::Number, .min = 0, .below = 1, .help = "probability of being dropped"}},
         .build = build_dropout,
         .help = "zeros at random while training, the rest scaled up; otherwise its input"},
}};

}  // namespace
}  // namespace lethe
