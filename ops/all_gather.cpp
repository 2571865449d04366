// y = the x of all ranks (framework/ranks/peers.h), one after the other along the first axis, or as shares of what has
// a given shape (the last ones may be shorter), in two halves as all_reduce.
#include <algorithm>

#include "framework/error.h"
#include "framework/language/op_def.h"
#include "framework/ranks/peers.h"
#include "kernels/peers_of.h"

namespace lethe {
namespace {

/// Of the x of all ranks together: with an attribute `shape` that, of which each x is a share.
Shape gathered_shape(const InferArgs& args) {
  const std::int64_t ranks = ranks_of(args);
  Shape shape = args.in(0).shape;
  if (args.op.attrs.has("shape")) {
    const Shape& whole = args.op.attrs.ints("shape");
    check(shape == Shape{size_of_share(elements(whole), ranks)}, kAllGatherStart, ": '", args.in(0).name, "' is ",
          text_of(args.in(0)), ", no share that ", ranks, " ranks have of ", text_of(whole));
    return whole;
  }
  check(!shape.empty(), kAllGatherStart, ": '", args.in(0).name, "' is a scalar, expected an axis at least");
  shape[0] *= ranks;
  return shape;
}

struct StartGather {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    return for_width(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel(
          [whole = elements(args.out(0).shape), share = elements(args.in(0).shape)](const KernelArgs& a) {
            Peers& peers = peers_of(a);
            const std::int64_t begin = std::min(peers.rank().number * share, whole);
            copy_run(Device{}, a.stream, std::min(share, whole - begin), a.in<T>(0), a.out<T>(0) + begin);
            constexpr std::int64_t kEach = sizeof(T);
            peers.start_gather({{a.outputs[0], whole * kEach, share * kEach}});
          });
    });
  }
};

const Register all_gather_start{{
    .type = kAllGatherStart,
    .inputs = {"x"},
    .outputs = {"pending"},
    .infer = [](const InferArgs& args) -> std::vector<Type> {
      return {{gathered_shape(args), args.in(0).dtype}};
    },
    .kernels = each_device<StartGather>(),
}};

const Register all_gather_wait{{
    .type = kAllGatherWait,
    .inputs = {"pending"},
    .outputs = {"y"},
    .infer = same_as_first,
    .inplace = {{.in = 0, .out = 0}},
    .waits = true,
    .kernels = each_device<FinishPeers>(),
}};

}  // namespace
}  // namespace lethe
