// Attention of heads (kernels/attention/shape.h has the formulas) of q [B, T, heads * D] over k and v
// [B, S, kv_heads * D], or of one input that holds all three, [B, T, (heads + 2 * kv_heads) * D]: query heads, then key
// heads, then value heads. `lengths` [B]: keys at and beyond it are not seen. With `causal` the row at position p sees
// no key after p, with `window` only keys less than that from p; the T rows are the last positions of the S, or of the
// length. `positions` [B, T] are those of the rows in texts that stand one after the other in a sample, so that each is
// at most one more than that before it: a row sees no key before its text, which begins so many positions before it.
// With `dropout` a share counts with that probability not at all, and else the more; which ones is drawn as by op
// dropout. For the gradient y and one number a row and head are kept, lse, never the scores.
#include "kernels/attention/attention.h"

#include <cmath>

#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/checked.h"
#include "framework/language/op_def.h"
#include "framework/random.h"
#include "kernels/attention/block_delta.h"
#include "kernels/attention/block_key_grad.h"
#include "kernels/attention/block_row_grad.h"
#include "kernels/attention/block_rows.h"
#include "kernels/attention/tensor_grad.h"
#include "kernels/dtypes.h"
#include "kernels/workspace.h"

namespace lethe {
namespace {

/// Fails unless a var has three axes.
void check_sequence(const InferArgs& args, int slot, const char* axes) {
  check(args.in(slot).shape.size() == 3, args.op.type, ": ", "qkv"[slot], " is ", text_of(args.in(slot)), ", expected ",
        axes);
}

/// Sets the rate and the stream by which shares are dropped; without a step none are.
void drop(AttentionShape& s, const InferArgs& args) {
  if (!args.has_in(4)) return;
  check_input(args, 4, {{}, DType::i64});
  const Attrs& attrs = args.op.attrs;
  s.dropout = attrs.number("dropout");
  check(s.dropout >= 0 && s.dropout < 1, args.op.type, ": dropout is ", s.dropout, ", expected at least 0 and below 1");
  s.dropout_key =
      stream_key(static_cast<std::uint64_t>(attrs.integer("seed")), static_cast<std::uint64_t>(attrs.integer("key")));
}

/// Sets head size and numbers of keys by the inputs; fails if heads do not divide their widths.
void fit(AttentionShape& s, const InferArgs& args) {
  const std::string& type = args.op.type;
  const Shape& q = args.in(0).shape;
  const std::int64_t of_q = checked_add(s.heads, s.packed ? checked_mul(2, s.kv_heads, "heads") : 0, "heads");
  check(q[2] % of_q == 0, type, ": ", of_q, " heads", s.packed ? " of queries, keys and values" : "",
        " do not divide a width of ", q[2]);
  s.batch = q[0], s.rows = s.keys = q[1], s.size = q[2] / of_q;
  if (s.packed) return;
  check_sequence(args, 1, "[B,S,kv_heads*D]");
  s.keys = args.in(1).shape[1];
  for (const int slot : {1, 2})
    check_input(args, slot, {{s.batch, s.keys, checked_mul(s.kv_heads, s.size, "a width")}, args.in(0).dtype});
}

AttentionShape shape_of(const InferArgs& args) {
  const Attrs& attrs = args.op.attrs;
  const std::string& type = args.op.type;
  check_sequence(args, 0, "[B,T,width]");
  check(args.has_in(1) == args.has_in(2), type, ": one of k and v is given, expected both or neither");
  AttentionShape s{.heads = attrs.integer("heads"),
                   .window = attrs.integer("window", 0),
                   .causal = attrs.flag("causal", false),
                   .packed = !args.has_in(1),
                   .lengths = args.has_in(3),
                   .texts = args.has_in(5)};
  s.kv_heads = attrs.integer("kv_heads", s.heads);
  check(s.heads >= 1 && s.kv_heads >= 1, type, ": ", s.heads, " heads and ", s.kv_heads,
        " of keys and values, expected at least 1");
  check(s.heads % s.kv_heads == 0, type, ": ", s.kv_heads, " heads of keys and values do not divide ", s.heads,
        " of queries");
  check(s.window >= 0, type, ": window is ", s.window, ", expected at least 0");
  fit(s, args);
  check(s.keys >= s.rows || (!s.causal && s.window == 0), type, ": ", s.rows, " rows and ", s.keys,
        " keys, expected as many keys at least where rows have positions among them");
  check_input(args, 3, {{s.batch}, DType::i32});
  check_input(args, 5, {{s.batch, s.rows}, DType::i32});
  s.scale = attrs.number("scale", 1 / std::sqrt(static_cast<double>(s.size)));
  check(std::isfinite(s.scale), type, ": scale is ", s.scale);
  drop(s, args);
  return s;
}

AttentionShape shape_of(const PrepareArgs& args) {
  AttentionShape s = shape_of(InferArgs{args.program, args.op});
  s.first_sample = args.op.attrs.integer(kFirstElement, 0) / (elements(args.out(0).shape) / s.batch);
  return s;
}
Type lse_of(const AttentionShape& s, const Var& q) { return {{s.batch, s.heads, s.rows}, wide_of(q.dtype)}; }
Type output_of(const AttentionShape& s, const Var& q) { return {{s.batch, s.rows, s.heads * s.size}, q.dtype}; }

/// Products of a row with a key that it sees, where every sample has its whole length and is one text.
std::int64_t products_of(const InferArgs& args, std::int64_t a_pair) {
  const AttentionShape s = shape_of(args);
  std::int64_t pairs = 0;
  for (std::int64_t row = 0; row < s.rows; ++row) {
    const Positions seen = s.keys_of(row, {s.keys, nullptr});
    pairs = checked_add(pairs, seen.last - seen.first, "pairs");
  }
  const char* const what = "the number of multiply-adds";
  return checked_mul(checked_mul(pairs, s.batch * s.heads, what), checked_mul(a_pair, s.size, what), what);
}

struct Attention {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    return on(Device{}, shape_of(args), args);
  }

 private:
  static std::unique_ptr<Kernel> on(Cpu, const AttentionShape& s, const PrepareArgs& args) {
    return prepare_attention_cpu(s, args.in(0).dtype, args.device.threads);
  }
#ifdef LETHE_DEVICE_CODE
  static std::unique_ptr<Kernel> on(Cuda, const AttentionShape& s, const PrepareArgs& args) {
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([=](const KernelArgs& a) {
        const AttentionArgs<T> of(s, a);
        const Heads<T> y = output_heads(s, a.out<T>(0));
        if constexpr (sizeof(T) == 2) {
          if (s.size <= kMostBlockNumbers)
            return for_block_size(s.size, [&](auto size) {
              const BlockRows<T, size> rows{of, y, a.out<float>(1),
                                            can_pack_heads(s, {of.in.q.data, of.in.k.data, of.in.v.data, y.data})};
              for_each_block(a.stream, s.batch, s.heads, s.rows, rows);
            });
          if (fits_tensor_cores(s))
            return for_each_tensor_block(a.stream, s, s.heads, s.rows, TensorRows<T>{of, y, a.out<float>(1)});
        }
        for_each_warp(a.stream, s.batch * s.heads * s.rows, AttentionRow<T>{of, y, a.out<Compute<T>>(1)});
      });
    });
  }
#endif
};

struct AttentionGrad {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    return on(Device{}, shape_of(args), args);
  }

 private:
  static std::unique_ptr<Kernel> on(Cpu, const AttentionShape& s, const PrepareArgs& args) {
    return prepare_attention_grad_cpu(s, args.in(0).dtype, args.device.threads);
  }
#ifdef LETHE_DEVICE_CODE
  static std::unique_ptr<Kernel> on(Cuda, const AttentionShape& s, const PrepareArgs& args) {
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      using C = Compute<T>;
      const std::int64_t rows = s.batch * s.heads * s.rows;
      const auto run = [=](const KernelArgs& a) {
        C* const delta = static_cast<C*>(a.workspace);
        const Heads<const T> y = output_heads(s, a.in<T>(6)), dy = output_heads(s, a.in<T>(8));
        const AttentionGradArgs<T> of{AttentionArgs<T>(s, a), dy, a.in<C>(7), delta};
        const QueryKeyValue<T> to = gradients_of<T>(s, a);
        // dq last: it may stand in the memory of y.
        if constexpr (sizeof(T) == 2)
          if (s.size <= kMostBlockNumbers)
            return for_block_size(s.size, [&](auto size) {
              const bool packs = can_pack_heads(s, {of.a.in.q.data, of.a.in.k.data, of.a.in.v.data, y.data, dy.data,
                                                    to.q.data, to.k.data, to.v.data});
              for_each_block(a.stream, s.batch, s.heads, s.rows, BlockDelta<T, size>{y, dy, s.heads, delta, packs});
              for_each_block(a.stream, s.batch, s.kv_heads, s.keys, BlockKeyGrad<T, size>{of, to.k, to.v, packs});
              for_each_block(a.stream, s.batch, s.heads, s.rows, BlockRowGrad<T, size>{of, to.q, packs});
            });
        parallel_for(Cuda{}, a.stream, rows, AttentionDelta<T>{s, y, dy, delta});
        if constexpr (sizeof(T) == 2)
          if (fits_tensor_cores(s)) {
            for_each_tensor_block(a.stream, s, s.kv_heads, s.keys, TensorKeyGrad<T>{of, to.k, to.v});
            return for_each_tensor_block(a.stream, s, s.heads, s.rows, TensorRowGrad<T>{of, to.q});
          }
        for_each_warp(a.stream, s.batch * s.kv_heads * s.keys, AttentionKeyGrad<T>{of, to.k, to.v});
        for_each_warp(a.stream, rows, AttentionRowGrad<T>{of, to.q});
      };
      return make_kernel(run, rows * static_cast<std::int64_t>(sizeof(C)));
    });
  }
#endif
};

std::vector<Type> infer_attention(const InferArgs& args) {
  const AttentionShape s = shape_of(args);
  return {output_of(s, args.in(0)), lse_of(s, args.in(0))};
}

std::vector<Type> infer_attention_grad(const InferArgs& args) {
  const AttentionShape s = shape_of(args);
  for (const int slot : {6, 8}) check_input(args, slot, output_of(s, args.in(0)));
  check_input(args, 7, lse_of(s, args.in(0)));
  std::vector<Type> types;
  for (int slot = 0; slot < (s.packed ? 1 : 3); ++slot) types.push_back({args.in(slot).shape, args.in(slot).dtype});
  return types;
}

void attention_gradient(GradBuilder& g) {
  check(g.dy(0) != kNone && g.dy(1) == kNone, "attention: no gradient through lse as an output");
  std::vector<VarId> like = {g.x(0)};
  if (g.x(1) != kNone) like.insert(like.end(), {g.x(1), g.x(2)});
  const std::vector<VarId> grads = g.call_all(
      "attention_grad", {g.x(0), g.x(1), g.x(2), g.x(3), g.x(4), g.x(5), g.y(0), g.y(1), g.dy()}, g.attrs(), like);
  for (int slot = 0; slot < static_cast<int>(grads.size()); ++slot) g.set(slot, grads[slot]);
}

VarId build_attention(LayerCall& c) {
  std::vector<VarId> in = {c.in()};
  if (c.inputs() >= 3) in.insert(in.end(), {c.in(1), c.in(2)});
  if (c.inputs() % 2 == 0) {
    in.resize(3, kNone);
    in.push_back(c.in(c.inputs() - 1));
  }
  Attrs attrs = c.settings();
  if (c.training() && attrs.number("dropout", 0) > 0) {
    in.resize(4, kNone);
    in.push_back(c.step());
    attrs.set("seed", c.seed());
    attrs.set("key", c.stream_key());
  }
  return c.emit("attention", in, attrs);
}

const Register attention{{
    .type = "attention",
    .inputs = {"q", "k?", "v?", "lengths?", "step?", "positions?"},
    .outputs = {"y", "lse"},
    .infer = infer_attention,
    .grad = attention_gradient,
    .mult_adds = [](const InferArgs& args) { return products_of(args, 2); },
    .random_step = 4,
    .kernels = each_device<Attention>(),
    .layer = {.name = "attention",
              .aliases = {"Attention"},
              .keys = {{.name = "heads", .type = KeyType::Int, .min = 1, .help = "of queries"},
                       {.name = "kv_heads",
                        .type = KeyType::Int,
                        .min = 1,
                        .help = "of keys and values, each shared by heads / kv_heads of queries; default heads",
                        .optional = true},
                       {.name = "causal", .type = KeyType::Bool, .absent = 0, .help = "no row sees a later key"},
                       {.name = "window",
                        .type = KeyType::Int,
                        .absent = 0,
                        .min = 0,
                        .max = kMostPixels,
                        .help = "rows see keys less than so many positions away; 0: however far"},
                       {.name = "scale",
                        .type = KeyType::Number,
                        .help = "of the scores; default 1 / sqrt(head size)",
                        .optional = true},
                       {.name = "dropout",
                        .type = KeyType::Number,
                        .min = 0,
                        .below = 1,
                        .help = "probability that a row drops what it takes of a key, while training; default 0",
                        .optional = true}},
              .min_inputs = 1,
              .max_inputs = 4,
              .build = build_attention,
              .help = "what heads of queries find among keys: of one input that holds queries, keys and values side by "
                      "side, or of three; then, if they differ, the samples' lengths (i32 [N])"},
}};

const Register attention_grad{{
    .type = "attention_grad",
    .inputs = {"q", "k?", "v?", "lengths?", "step?", "positions?", "y", "lse", "dy"},
    .outputs = {"dq", "dkv..."},
    .infer = infer_attention_grad,
    .inplace = {{.in = 6, .out = 0}},
    .mult_adds = [](const InferArgs& args) { return products_of(args, 5); },
    .random_step = 4,
    .kernels = each_device<AttentionGrad>(),
}};

}  // namespace
}  // namespace lethe
