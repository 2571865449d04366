// y = the sum of x over all ranks (framework/peers.h), in two halves: between them other ops run. What is under way,
// and the room that it takes, are outputs of the one and inputs of the other, so nothing else is put into their memory.
#include "framework/error.h"
#include "framework/op_def.h"
#include "framework/peers.h"
#include "kernels/peers_of.h"

namespace lethe {
namespace {

const Register all_reduce_start{{
    .type = kAllReduceStart,
    .inputs = {"x"},
    .outputs = {"pending", "room"},
    .infer =
        [](const InferArgs& args) {
          const Var& x = args.in(0);
          const std::int64_t ranks = args.op.attrs.integer("ranks");
          check(ranks > 1, kAllReduceStart, ": ranks is ", ranks, ", expected at least 2");
          check(x.dtype == DType::f32 || x.dtype == DType::f64, kAllReduceStart, ": '", x.name, "' is ", text_of(x),
                ", expected f32 or f64");
          return std::vector<Type>{{x.shape, x.dtype}, {{room_of_sum(elements(x.shape), ranks)}, x.dtype}};
        },
    .inplace = {{.in = 0, .out = 0}},
    .kernels = peers_kernels([](const PrepareArgs& args) {
      return make_kernel([bytes = bytes_of(args.in(0)), dtype = args.in(0).dtype,
                          count = elements(args.in(0).shape)](const KernelArgs& a) {
        copy_unless_same(a, bytes);
        peers_of(a).start_sum(a.outputs[0], a.outputs[1], dtype, count);
      });
    }),
}};

const Register all_reduce_wait{{
    .type = kAllReduceWait,
    .inputs = {"pending", "room"},
    .outputs = {"y"},
    .infer = same_as_first,
    .inplace = {{.in = 0, .out = 0}},
    .waits = true,
    .kernels = finish_kernels(),
}};

}  // namespace
}  // namespace lethe
