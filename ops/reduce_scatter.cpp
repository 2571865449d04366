// y = this rank's share of the sum of x over all ranks (framework/ranks/peers.h), in two halves as all_reduce. y has
// room for the share of any rank; what is after a shorter one is 0.
#include "framework/error.h"
#include "framework/language/op_def.h"
#include "framework/ranks/peers.h"
#include "kernels/peers_of.h"

namespace lethe {
namespace {

struct FinishSumOfShare {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    return for_wide(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([whole = elements(args.in(0).shape), room = elements(args.out(0).shape)](const KernelArgs& a) {
        Peers& peers = peers_of(a);
        with_context(kReduceScatterWait, [&] { peers.finish(a.inputs[0]); });
        const Share share = share_of(whole, peers.rank());
        parallel_for(Device{}, a.stream, room, TakeShare<T>{a.in<T>(0) + share.begin, a.out<T>(0), share.count});
      });
    });
  }
};

const Register reduce_scatter_start{{
    .type = kReduceScatterStart,
    .inputs = {"x"},
    .outputs = {"pending", "room"},
    .infer = sum_under_way,
    .inplace = {{.in = 0, .out = 0}},
    .kernels = each_device<StartSum<&Peers::start_sum_of_share>>(),
}};

const Register reduce_scatter_wait{{
    .type = kReduceScatterWait,
    .inputs = {"pending", "room"},
    .outputs = {"y"},
    .infer = [](const InferArgs& args) -> std::vector<Type> {
      const Var& x = args.in(0);
      return {{{size_of_share(elements(x.shape), ranks_of(args))}, x.dtype}};
    },
    .waits = true,
    .kernels = each_device<FinishSumOfShare>(),
}};

}  // namespace
}  // namespace lethe
