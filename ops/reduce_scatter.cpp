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
    .infer =
        [](const InferArgs& args) {
          const Var& x = args.in(0);
          const std::int64_t ranks = args.op.attrs.integer(kRanks);
          check(ranks > 1, kReduceScatterStart, ": ranks is ", ranks, ", expected at least 2");
          check(x.dtype == DType::f32 || x.dtype == DType::f64, kReduceScatterStart, ": '", x.name, "' is ", text_of(x),
                ", expected f32 or f64");
          return std::vector<Type>{{x.shape, x.dtype}, {{room_of_sum(elements(x.shape), ranks)}, x.dtype}};
        },
    .inplace = {{.in = 0, .out = 0}},
    .kernels = peers_kernels([](const PrepareArgs& args) {
      return make_kernel([bytes = bytes_of(args.in(0)), dtype = args.in(0).dtype,
                          count = elements(args.in(0).shape)](const KernelArgs& a) {
        copy_unless_same(a, bytes);
        peers_of(a).start_sum_of_share(a.outputs[0], a.outputs[1], dtype, count);
      });
    }),
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
