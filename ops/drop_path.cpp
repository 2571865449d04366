// Stochastic depth by sample (Huang et al., 2016, as timm's DropPath): y = x / (1 - p) of a sample that is kept, else
// 0, whatever its elements are. Whether it is kept is a function of seed, key, step and the sample's place in the whole
// batch: no mask is stored, and the gradient is the same op on dy.
#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/error.h"
#include "framework/language/op_def.h"
#include "framework/random.h"
#include "kernels/dtypes.h"
#include "kernels/packs.h"

namespace lethe {
namespace {

/// Elements of a sample that are decided at once.
template <class Device>
constexpr std::int64_t kDropPathPiece = std::is_same_v<Device, Cpu> ? 1024 : 4;

template <class T, std::int64_t Piece>
struct DropPathPieces {
  static constexpr std::int64_t kCost = Piece == 4 ? 16 : Piece;  // elements that it takes as long as
  const T* x = nullptr;
  const std::int64_t* step = nullptr;
  T* y = nullptr;
  bool packed = false;
  std::int64_t first, size, pieces;  // of the samples: which of the batch the first is; elements, pieces of each
  std::uint64_t key;
  float p;
  Compute<T> scale;

  DropPathPieces(std::int64_t size, std::int64_t first, std::uint64_t key, double p)
      : first(first),
        size(size),
        pieces((size + Piece - 1) / Piece),
        key(key),
        p(static_cast<float>(p)),
        scale(static_cast<Compute<T>>(1 / (1 - p))) {}
  DropPathPieces placed(const KernelArgs& a) const {
    DropPathPieces there = *this;
    there.x = a.in<T>(0);
    there.step = a.in<std::int64_t>(1);
    there.y = a.out<T>(0);
    there.packed = Piece == 4 && size % 4 == 0 && can_pack({there.x, there.y});
    return there;
  }

  HD void operator()(std::int64_t piece) const {
    const std::int64_t sample = piece / pieces, begin = (piece - sample * pieces) * Piece;
    const std::int64_t count = size - begin < Piece ? size - begin : Piece, at = sample * size + begin;
    const bool kept =
        uniform_at(key, static_cast<std::uint64_t>(*step), static_cast<std::uint64_t>(first + sample)) >= p;
    if (packed) {
      Pack<T, 4> four = load_pack<4>(x + at);
      for (int i = 0; i < 4; ++i) four.at[i] = kept ? compute(four.at[i]) * scale : Compute<T>(0);
      store_pack(y + at, four);
    } else if (kept) {
      for (std::int64_t i = at; i < at + count; ++i) y[i] = compute(x[i]) * scale;
    } else {
      for (std::int64_t i = at; i < at + count; ++i) y[i] = Compute<T>(0);
    }
  }
};

struct DropPath {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Attrs& attrs = args.op.attrs;
    const Shape& shape = args.out(0).shape;
    const std::int64_t size = elements(shape) / shape[0], first = attrs.integer(kFirstElement, 0) / size;
    const double p = attrs.number("p");
    const std::uint64_t key =
        stream_key(static_cast<std::uint64_t>(attrs.integer("seed")), static_cast<std::uint64_t>(attrs.integer("key")));
    return for_float(args.out(0).dtype, [&](auto zero) {
      using Pieces = DropPathPieces<decltype(zero), kDropPathPiece<Device>>;
      const Pieces unplaced(size, first, key, p);
      return make_kernel([unplaced, count = shape[0] * unplaced.pieces](const KernelArgs& a) {
        parallel_for(Device{}, a.stream, count, unplaced.placed(a), kElementGrain / Pieces::kCost);
      });
    });
  }
};

std::vector<Type> infer_drop_path(const InferArgs& args) {
  const double p = args.op.attrs.number("p");
  check(p >= 0 && p < 1, "drop_path: p is ", p, ", expected at least 0 and below 1");
  const Shape& shape = args.in(0).shape;
  check(!shape.empty() && elements(shape) > 0, "drop_path: x is ", text_of(args.in(0)), ", expected samples");
  check(args.in(1).shape.empty() && args.in(1).dtype == DType::i64, "drop_path: step is ", text_of(args.in(1)),
        ", expected an i64 scalar");
  return same_as_first(args);
}

VarId build_drop_path(LayerCall& c) {
  const double p = c.settings().number("p");
  if (!c.training() || p == 0) return c.in();
  return c.emit("drop_path", {c.in(), c.step()}, {{"p", p}, {"seed", c.seed()}, {"key", c.stream_key()}});
}

const Register drop_path{{
    .type = "drop_path",
    .inputs = {"x", "step"},
    .outputs = {"y"},
    .infer = infer_drop_path,
    .grad =
        [](GradBuilder& g) {
          g.set(0, "drop_path", {g.dy(), g.x(1)}, g.attrs());
        },
    .inplace = {{.in = 0, .out = 0}},
    .random_step = 1,
    .kernels = each_device<DropPath>(),
    .layer =
        {.name = "drop_path",
         .aliases = {"DropPath", "StochasticDepth"},
         .keys = {{.name = "p", .type = KeyType::Number, .min = 0, .below = 1, .help = "probability of being dropped"}},
         .build = build_drop_path,
         .help = "whole samples of it are zero at random while training, the others scaled up; otherwise its input"},
}};

}  // namespace
}  // namespace lethe
