// y = the share that a rank has of x (framework/ranks/peers.h); what is after a shorter one is 0.
#include "framework/language/op_def.h"
#include "framework/ranks/peers.h"
#include "kernels/dtypes.h"
#include "kernels/peers_of.h"

namespace lethe {
namespace {

struct OwnShare {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const Attrs& attrs = args.op.attrs;
    const Share share = share_of(elements(args.in(0).shape), {attrs.integer(kRank), attrs.integer(kRanks)});
    return for_wide(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([share, n = elements(args.out(0).shape)](const KernelArgs& a) {
        parallel_for(Device{}, a.stream, n, TakeShare<T>{a.in<T>(0) + share.begin, a.out<T>(0), share.count});
      });
    });
  }
};

const Register own_share{{
    .type = "own_share",
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = [](const InferArgs& args) -> std::vector<Type> {
      const Var& x = args.in(0);
      return {{{size_of_share(elements(x.shape), own_rank_of(args).of)}, x.dtype}};
    },
    .kernels = each_device<OwnShare>(),
}};

}  // namespace
}  // namespace lethe
