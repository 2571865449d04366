// The gradients of attention (ops/attention.cpp): dq, and dk and dv where these are inputs of their own; and, by an op
// of its own that makes scores once more, that of the mask, which few networks need.
#include "framework/language/op_def.h"
#include "kernels/attention/attention.h"
#include "kernels/attention/block_delta.h"
#include "kernels/attention/block_key_grad.h"
#include "kernels/attention/block_row_grad.h"
#include "kernels/attention/cuda_grad.h"
#include "kernels/attention/cuda_mask_grad.h"
#include "kernels/attention/op_shape.h"
#include "kernels/attention/tensor_grad.h"
#include "kernels/dtypes.h"

namespace lethe {
namespace {

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
        const Heads<const T> y = output_heads(s, a.in<T>(kSlotOfY)), dy = output_heads(s, a.in<T>(kSlotOfY + 2));
        const AttentionGradArgs<T> of{AttentionArgs<T>(s, a), dy, a.in<C>(kSlotOfY + 1), delta};
        const QueryKeyValue<T> to = gradients_of<T>(s, a);
        // dq last: it may stand in the memory of y.
        if constexpr (sizeof(T) == 2)
          if (fits_blocks(s))
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

struct AttentionMaskGradient {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    return on(Device{}, shape_of(args), args);
  }

 private:
  static std::unique_ptr<Kernel> on(Cpu, const AttentionShape& s, const PrepareArgs& args) {
    return prepare_mask_grad_cpu(s, args.in(0).dtype, args.out(0).dtype == DType::f32, args.device.threads);
  }
#ifdef LETHE_DEVICE_CODE
  static std::unique_ptr<Kernel> on(Cuda, const AttentionShape& s, const PrepareArgs& args) {
    const std::int64_t rows = s.batch * s.heads * s.rows, numbers = elements(args.out(0).shape);
    const bool wide = args.out(0).dtype == DType::f32;
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      using C = Compute<T>;
      const auto run = [=](const KernelArgs& a) {
        C* const delta = static_cast<C*>(a.workspace);
        const Heads<const T> y = output_heads(s, a.in<T>(kSlotOfY)), dy = output_heads(s, a.in<T>(kSlotOfY + 2));
        parallel_for(Cuda{}, a.stream, rows, AttentionDelta<T>{s, y, dy, delta});
        const AttentionGradArgs<T> of{AttentionArgs<T>(s, a), dy, a.in<C>(kSlotOfY + 1), delta};
        parallel_for(Cuda{}, a.stream, numbers, AttentionMaskGrad<T>{of, {a.out<void>(0), wide}});
      };
      return make_kernel(run, rows * static_cast<std::int64_t>(sizeof(C)));
    });
  }
#endif
};

/// Fails unless y, lse and dy are those of the op.
AttentionShape shape_of_gradient(const InferArgs& args) {
  const AttentionShape s = shape_of(args);
  for (const int slot : {kSlotOfY, kSlotOfY + 2}) check_input(args, slot, output_of(s, args.in(0)));
  check_input(args, kSlotOfY + 1, lse_of(s, args.in(0)));
  return s;
}

std::vector<Type> infer_attention_grad(const InferArgs& args) {
  const AttentionShape s = shape_of_gradient(args);
  std::vector<Type> types;
  for (int slot = 0; slot < (s.packed ? 1 : 3); ++slot) types.push_back({args.in(slot).shape, args.in(slot).dtype});
  return types;
}

const Register attention_grad{{
    .type = "attention_grad",
    .inputs = {"q", "k?", "v?", "lengths?", "step?", "positions?", "mask?", "y", "lse", "dy"},
    .outputs = {"dq", "dkv..."},
    .infer = infer_attention_grad,
    .inplace = {{.in = kSlotOfY, .out = 0}},
    .mult_adds = [](const InferArgs& args) { return attention_products(args, 5); },
    .random_step = 4,
    .kernels = each_device<AttentionGrad>(),
}};

std::vector<Type> infer_attention_mask_grad(const InferArgs& args) {
  shape_of_gradient(args);
  const Var& mask = args.in(kSlotOfMask);
  return {{mask.shape, args.op.attrs.flag(kWideOutput, false) ? wide_of(mask.dtype) : mask.dtype}};
}

const Register attention_mask_grad{{
    .type = "attention_mask_grad",
    .inputs = {"q", "k?", "v?", "lengths?", "step?", "positions?", "mask", "y", "lse", "dy"},
    .outputs = {"dmask"},
    .infer = infer_attention_mask_grad,
    .mult_adds = [](const InferArgs& args) { return attention_products(args, 2); },
    .random_step = 4,
    .widens = true,
    .kernels = each_device<AttentionMaskGradient>(),
}};

}  // namespace
}  // namespace lethe
