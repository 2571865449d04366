#include "memopt/passes/fuse_activations.h"

#include "memopt/analysis/activates.h"
#include "memopt/passes/rewriter.h"

namespace lethe {

Program fuse_activations(Program program, const std::vector<Pin>& pins, DeviceKind device) {
  Rewriter rewriter(std::move(program), pins);
  return rewriter.run([&](const Op& activation) {
    if (op_def(activation.type).part != FusionPart::Activation || rewriter.var(activation.out[0]).pitch != 0) return;
    const VarId x = activation.in[0];
    const Op* const made = rewriter.made_for_one(x);
    if (!made || made->out[0] != x || !activates_on(op_def(made->type), device) || made->attrs.has(kActivation)) return;
    Op both = *made, view = activation;
    both.attrs.set(kActivation, activation.type);
    view.type = kReshape;
    view.attrs = {{"shape", rewriter.var(x).shape}};
    rewriter.replace(*made, {std::move(both)});
    rewriter.replace(activation, {std::move(view)});
  });
}

}  // namespace lethe
