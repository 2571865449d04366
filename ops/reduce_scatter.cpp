// y = this rank's share of the sum of x over all ranks (framework/peers.h), in two halves as all_reduce. y has room for
// the share of any rank; what is behind a shorter one is 0.
#include "framework/error.h"
#include "framework/op_def.h"
#include "framework/peers.h"
#include "kernels/peers_of.h"

namespace lethe {
namespace {

const Register reduce_scatter_start{{
    .type = kReduceScatterStart,
    .inputs = {"x"},
    .outputs = {"pending", "room"},
    .infer = sum_under_way,
    .inplace = {{.in = 0, .out = 0}},
    .kernels = sum_kernels<&Peers::start_sum_of_share>(),
}};

const Register reduce_scatter_wait{{
    .type = kReduceScatterWait,
    .inputs = {"pending", "room"},
    .outputs = {"y"},
    .infer = [](const InferArgs& args) -> std::vector<Type> {
      const Var& x = args.in(0);
      return {{{size_of_share(elements(x.shape), args.op.attrs.integer(kRanks))}, x.dtype}};
    },
    .waits = true,
    .kernels = peers_kernels([](const PrepareArgs& args) {
      return make_kernel(
          [of = args.in(0), bytes = static_cast<std::size_t>(bytes_of(args.out(0)))](const KernelArgs& a) {
            Peers& peers = peers_of(a);
            with_context(kReduceScatterWait, [&] { peers.finish(a.inputs[0]); });
            const Share share = share_of(elements(of.shape), peers.rank());
            const std::size_t begin = share.begin * bytes_of(of.dtype), own = share.count * bytes_of(of.dtype);
            std::memcpy(a.outputs[0], a.in<std::byte>(0) + begin, own);
            std::memset(a.out<std::byte>(0) + own, 0, bytes - own);
          });
    }),
}};

}  // namespace
}  // namespace lethe
