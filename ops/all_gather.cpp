// y = the x of all ranks (framework/peers.h), one behind the other along the first axis, in two halves as all_reduce.
#include <cstring>

#include "framework/error.h"
#include "framework/op_def.h"
#include "framework/peers.h"
#include "kernels/peers_of.h"

namespace lethe {
namespace {

const Register all_gather_start{{
    .type = kAllGatherStart,
    .inputs = {"x"},
    .outputs = {"pending"},
    .infer =
        [](const InferArgs& args) {
          const std::int64_t ranks = args.op.attrs.integer("ranks");
          check(ranks > 1, kAllGatherStart, ": ranks is ", ranks, ", expected at least 2");
          Shape shape = args.in(0).shape;
          check(!shape.empty(), kAllGatherStart, ": '", args.in(0).name, "' is a scalar, expected an axis at least");
          shape[0] *= ranks;
          return std::vector<Type>{{shape, args.in(0).dtype}};
        },
    .kernels = peers_kernels([](const PrepareArgs& args) {
      return make_kernel([bytes = bytes_of(args.in(0))](const KernelArgs& a) {
        Peers& peers = peers_of(a);
        std::memcpy(a.out<std::byte>(0) + peers.rank().number * bytes, a.inputs[0], static_cast<std::size_t>(bytes));
        peers.start_gather(a.outputs[0], bytes);
      });
    }),
}};

const Register all_gather_wait{{
    .type = kAllGatherWait,
    .inputs = {"pending"},
    .outputs = {"y"},
    .infer = same_as_first,
    .inplace = {{.in = 0, .out = 0}},
    .waits = true,
    .kernels = finish_kernels(),
}};

}  // namespace
}  // namespace lethe
