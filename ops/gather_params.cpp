// Parameters of which each rank has updated its share (framework/ranks/peers.h) become whole on all of them, in place,
// in two halves as all_reduce.
#include "framework/error.h"
#include "framework/language/op_def.h"
#include "framework/ranks/peers.h"
#include "kernels/peers_of.h"

namespace lethe {
namespace {

std::vector<Type> same_as_all(const InferArgs& args) {
  std::vector<Type> types;
  for (std::size_t slot = 0; slot < args.op.in.size(); ++slot) {
    const Var& param = args.in(static_cast<int>(slot));
    types.push_back({param.shape, param.dtype});
  }
  return types;
}

struct StartGatherParams {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    std::vector<Shared> all;
    for (const VarId v : args.op.in) {
      const Var& param = args.program.vars[v];
      const std::int64_t share = size_of_share(elements(param.shape), args.op.attrs.integer(kRanks));
      all.push_back({nullptr, bytes_of(param), share * bytes_of(param.dtype)});
    }
    return make_kernel([all = std::move(all)](const KernelArgs& a) {
      std::vector<Shared> placed = all;
      for (std::size_t slot = 0; slot < placed.size(); ++slot) placed[slot].values = a.outputs[slot];
      peers_of(a).start_gather(std::move(placed));
    });
  }
};

const Register gather_params_start{{
    .type = kGatherParamsStart,
    .inputs = {"params..."},
    .outputs = {"params..."},
    .infer =
        [](const InferArgs& args) {
          ranks_of(args);
          check(!args.op.in.empty(), kGatherParamsStart, ": no parameters given");
          return same_as_all(args);
        },
    .updates = true,
    .kernels = each_device<StartGatherParams>(),
}};

const Register gather_params_wait{{
    .type = kGatherParamsWait,
    .inputs = {"params..."},
    .outputs = {"params..."},
    .infer = same_as_all,
    .updates = true,
    .waits = true,
    .kernels = each_device<FinishPeers>(),
}};

}  // namespace
}  // namespace lethe
