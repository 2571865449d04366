#include "train/optnet/optnet_run.h"

#include "framework/error.h"
#include "train/optnet/torch_notes.h"

namespace lethe {

TorchProgram optnet_program(const OptnetOptions& optnet, const NetworkSetting& setting, const Network& network) {
  return torch_program(network, torch_notes(network.name),
                       {.backend = setting.dtype == DType::f64 ? TorchBackend::Nn : TorchBackend::Cudnn,
                        .training = optnet.training,
                        .inplace = optnet.inplace,
                        .keep_grads = !optnet.remove_grad_params,
                        .loss = true});
}

Planned plan_optnet_run(const OptnetOptions& optnet, TorchProgram torch, const Program& program, Prepared& prepared) {
  torch.program = program;
  Planned planned{.program = program, .plan = {}, .workspaces = workspaces_of(program, prepared)};
  OptnetPlan made = plan_optnet(torch, optnet, planned.workspaces);
  planned.plan = std::move(made.plan);
  if (made.kept_apart > 0)
    planned.notes.push_back(
        message("optnet would share ", made.kept_apart, " bytes more, which are needed longer than it believed"));
  return planned;
}

}  // namespace lethe
