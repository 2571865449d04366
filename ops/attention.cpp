// Attention of heads (kernels/attention/shape.h has the formulas) of q [B, T, heads * D] over k and v
// [B, S, kv_heads * D], or of one input that holds all three, [B, T, (heads + 2 * kv_heads) * D]: query heads, then key
// heads, then value heads. `lengths` [B]: keys at and beyond it are not seen. With `causal` the row at position p sees
// no key after p, with `window` only keys less than that from p; the T rows are the last positions of the S, or of the
// length. `positions` [B, T] are those of the rows in texts that stand one after the other in a sample, so that each is
// at most one more than that before it: a row sees no key before its text, which begins so many positions before it.
// `mask`, in f32 or the dtype of q, [1 or B, 1 or heads, 1 or T, S], is added to the scaled scores: with -inf a key is
// not seen. A row all of whose keys have a huge finite number there, not -inf, has its shares of them, but its
// gradient, which makes shares again from lse, is only as exact as that number. With `softcap` scores become softcap *
// tanh(score / softcap) before the mask is added. On a GPU both have the kernels of tensor.h and cuda.h alone. With
// `dropout` a share counts with that probability not at all, and else the more; which ones is drawn as by op dropout.
// For the gradient y and one number a row and head are kept, lse, never the scores.
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
          if (fits_blocks(s))
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
  std::vector<VarId> in, like = {g.x(0)};
  for (int slot = 0; slot <= kSlotOfMask; ++slot) in.push_back(g.x(slot));
  in.insert(in.end(), {g.y(0), g.y(1), g.dy()});
  g.set(kSlotOfMask, "attention_mask_grad", in, g.attrs());  // first: dq may stand in the memory of y
  if (!g.wants(0) && !g.wants(1) && !g.wants(2)) return;
  if (g.x(1) != kNone) like.insert(like.end(), {g.x(1), g.x(2)});
  const std::vector<VarId> grads = g.call_all("attention_grad", in, g.attrs(), like);
  for (int slot = 0; slot < static_cast<int>(grads.size()); ++slot) g.set(slot, grads[slot]);
}

/// The layer's last input under four axes: axes of 1 stand for heads and rows that a sample of it does not have.
VarId mask_input(LayerCall& c) {
  const VarId mask = c.in(c.inputs() - 1);
  check(!c.is_image(mask),
        "attention: the mask is an image, expected a plain value (`layout` says which of them a parameter is)");
  Shape shape = c.var(mask).shape;
  if (shape.empty() || shape.size() >= 4) return mask;
  shape.insert(shape.begin() + 1, 4 - shape.size(), 1);
  return c.view(mask, shape, "mask");
}

VarId build_attention(LayerCall& c) {
  const bool masked = c.settings().flag("mask", false);
  const int inputs = c.inputs() - (masked ? 1 : 0);
  check(inputs >= 1 && inputs <= 4, "attention: ", c.inputs(), " inputs, expected 1 to 4",
        masked ? " before the mask" : "");
  std::vector<VarId> in = {c.in()};
  if (inputs >= 3) in.insert(in.end(), {c.in(1), c.in(2)});
  if (inputs % 2 == 0) {
    in.resize(3, kNone);
    in.push_back(c.in(inputs - 1));
  }
  Attrs attrs = c.settings();
  if (c.training() && attrs.number("dropout", 0) > 0) {
    in.resize(4, kNone);
    in.push_back(c.step());
    attrs.set("seed", c.seed());
    attrs.set("key", c.stream_key());
  }
  if (masked) {
    in.resize(kSlotOfMask, kNone);
    in.push_back(mask_input(c));
  }
  return c.emit("attention", in, attrs);
}

const Register attention{{
    .type = "attention",
    .inputs = {"q", "k?", "v?", "lengths?", "step?", "positions?", "mask?"},
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
                       {.name = "mask",
                        .type = KeyType::Bool,
                        .help = "the last input is added to the scaled scores, [heads or 1, T or 1, keys] or less of a "
                                "sample or of all: -inf hides a key; default false",
                        .optional = true},
                       {.name = "scale",
                        .type = KeyType::Number,
                        .help = "of the scores; default 1 / sqrt(head size)",
                        .optional = true},
                       {.name = "softcap",
                        .type = KeyType::Number,
                        .min = 0,
                        .help =
                            "scaled scores become softcap * tanh(score / softcap), before a mask is added; default: "
                            "they do not",
                        .optional = true},
                       {.name = "dropout",
                        .type = KeyType::Number,
                        .min = 0,
                        .below = 1,
                        .help = "probability that a row drops what it takes of a key, while training; default 0",
                        .optional = true}},
              .min_inputs = 1,
              .max_inputs = 5,
              .build = build_attention,
              .help = "what heads of queries find among keys: of one input that holds queries, keys and values side by "
                      "side, or of three; then, if they differ, the samples' lengths (i32 [N]); then, if said, a mask"},
}};

}  // namespace
}  // namespace lethe
