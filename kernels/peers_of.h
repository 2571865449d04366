// What ops have in common that ask other ranks; the processor does it, whatever the device is.
#pragma once
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include "framework/error.h"
#include "framework/kernel.h"
#include "framework/op_def.h"
#include "framework/peers.h"

namespace lethe {

/// The attribute `ranks`; fails unless there are several.
inline std::int64_t ranks_of(const InferArgs& args) {
  const std::int64_t ranks = args.op.attrs.integer(kRanks);
  check(ranks > 1, args.op.type, ": ranks is ", ranks, ", expected at least 2");
  return ranks;
}

/// Of what begins to sum input 0, f32 or f64: what is under way, and the room that this takes.
inline std::vector<Type> sum_under_way(const InferArgs& args) {
  const std::int64_t ranks = ranks_of(args);
  const Var& x = args.in(0);
  check(x.dtype == DType::f32 || x.dtype == DType::f64, args.op.type, ": '", x.name, "' is ", text_of(x),
        ", expected f32 or f64");
  return {{x.shape, x.dtype}, {{room_of_sum(elements(x.shape), ranks)}, x.dtype}};
}

inline Peers& peers_of(const KernelArgs& args) {
  check_as(Exit::Internal, args.peers != nullptr, "a program of several ranks runs on a device without any");
  return *args.peers;
}

/// Output 0 becomes input 0, of so many bytes, unless it is in its memory.
inline void copy_unless_same(const KernelArgs& args, std::int64_t bytes) {
  if (args.inputs[0] != args.outputs[0]) std::memcpy(args.outputs[0], args.inputs[0], static_cast<std::size_t>(bytes));
}

/// On a GPU they are planned and cannot run yet.
constexpr Kernels peers_kernels(PrepareKernel prepare) { return {.cpu = prepare, .cuda = prepare}; }

/// Of what begins to sum input 0 by `start`, one of the sums of Peers; outputs are those of sum_under_way().
template <void (Peers::*start)(void*, void*, DType, std::int64_t)>
Kernels sum_kernels() {
  return peers_kernels([](const PrepareArgs& args) {
    return make_kernel([bytes = bytes_of(args.in(0)), dtype = args.in(0).dtype,
                        count = elements(args.in(0).shape)](const KernelArgs& a) {
      copy_unless_same(a, bytes);
      (peers_of(a).*start)(a.outputs[0], a.outputs[1], dtype, count);
    });
  });
}

/// Of what waits for what input 0 belongs to.
inline Kernels finish_kernels() {
  return peers_kernels([](const PrepareArgs& args) {
    return make_kernel([type = args.op.type, bytes = bytes_of(args.in(0))](const KernelArgs& a) {
      with_context(type, [&] { peers_of(a).finish(a.inputs[0]); });
      copy_unless_same(a, bytes);
    });
  });
}

}  // namespace lethe
