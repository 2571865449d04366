// Attention of heads (kernels/attention/shape.h has the formulas) of q [B, T, heads * D] over k and v
// [B, S, kv_heads * D], or of one input that holds all three, [B, T, (heads + 2 * kv_heads) * D]: query heads, then key
// heads, then value heads. `lengths` [B]: keys at and beyond it are not seen. With `causal` the row at position p sees
// no key after p, with `window` only keys less than that from p; the T rows are the last positions of the S, or of the
// length. `positions` [B, T] are those of the rows in texts that stand one after the other in a sample, so that each is
// at most one more than that before it: a row sees no key before its text, which begins so many positions before it.
// With `dropout` a share counts with that probability not at all, and else the more; which ones is drawn as by op
// dropout. For the gradient y and one number a row and head are kept, lse, never the scores.
#include "kernels/attention/attention.h"

#include "framework/autodiff/autodiff.h"
#include "framework/builder/layer_call.h"
#include "framework/language/op_def.h"
#include "kernels/attention/block_rows.h"
#include "kernels/attention/op_shape.h"
#include "kernels/attention/tensor.h"
#include "kernels/dtypes.h"

namespace lethe {
namespace {

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

std::vector<Type> infer_attention(const InferArgs& args) {
  const AttentionShape s = shape_of(args);
  return {output_of(s, args.in(0)), lse_of(s, args.in(0))};
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
    .mult_adds = [](const InferArgs& args) { return attention_products(args, 2); },
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

}  // namespace
}  // namespace lethe
