// What ops have in common that ask other ranks: the moving of bytes is begun and waited for, on whatever device,
// through its peers.
#pragma once
#include <memory>
#include <vector>

#include "framework/error.h"
#include "framework/language/op_def.h"
#include "framework/ranks/peers.h"
#include "kernels/copy_parts.h"
#include "kernels/dtypes.h"

namespace lethe {

/// The attribute `ranks`; fails unless there are several.
inline std::int64_t ranks_of(const InferArgs& args) {
  const std::int64_t ranks = args.op.attrs.integer(kRanks);
  check(ranks > 1, args.op.type, ": ranks is ", ranks, ", expected at least 2");
  check(ranks <= kMostRanks, args.op.type, ": ranks is ", ranks, ", expected at most ", kMostRanks);
  return ranks;
}
/// With the attribute `rank`, which is one of them.
inline Rank own_rank_of(const InferArgs& args) {
  const Rank rank{args.op.attrs.integer(kRank), ranks_of(args)};
  check(rank.number >= 0 && rank.number < rank.of, args.op.type, ": rank is ", rank.number, ", expected 0 to ",
        rank.of - 1);
  return rank;
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

/// Output 0 becomes input 0, of so many elements, unless it is in its memory.
template <class T, class Device>
void copy_unless_same(Device device, const KernelArgs& args, std::int64_t count) {
  if (args.inputs[0] != args.outputs[0]) copy_run(device, args.stream, count, args.in<T>(0), args.out<T>(0));
}

/// A rank's share of values, with zeros after one that is shorter than others.
template <class T>
struct TakeShare {
  const T* from;
  T* y;
  std::int64_t count;
  HD void operator()(std::int64_t i) const { y[i] = i < count ? from[i] : T(0); }
};

/// Of what begins to sum input 0 by `start`, one of the sums of Peers; outputs are those of sum_under_way().
template <void (Peers::*start)(void*, void*, DType, std::int64_t)>
struct StartSum {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    return for_wide(args.in(0).dtype, [&](auto zero) {
      return make_kernel([dtype = args.in(0).dtype, count = elements(args.in(0).shape)](const KernelArgs& a) {
        copy_unless_same<decltype(zero)>(Device{}, a, count);
        (peers_of(a).*start)(a.outputs[0], a.outputs[1], dtype, count);
      });
    });
  }
};

/// Of what waits for what input 0 belongs to.
struct FinishPeers {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    return for_width(args.in(0).dtype, [&](auto zero) {
      return make_kernel([type = args.op.type, count = elements(args.in(0).shape)](const KernelArgs& a) {
        with_context(type, [&] { peers_of(a).finish(a.inputs[0]); });
        copy_unless_same<decltype(zero)>(Device{}, a, count);
      });
    });
  }
};

}  // namespace lethe
