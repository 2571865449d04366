#include "train/optnet_run.h"

#include "framework/error.h"
#include "train/session/torch_notes.h"

namespace lethe {
namespace {

constexpr std::string_view kOptnet = "optnet=";

}  // namespace

bool asks_for_optnet(const std::string& memopt) { return memopt.compare(0, kOptnet.size(), kOptnet) == 0; }

OptnetOptions optnet_options(const std::string& memopt) { return parse_optnet(memopt.substr(kOptnet.size())); }

TorchProgram optnet_program(const Options& options, const Network& network) {
  const OptnetOptions optnet = optnet_options(options.memopt);
  return torch_program(network, torch_notes(options.model),
                       {.backend = options.dtype == DType::f64 ? TorchBackend::Nn : TorchBackend::Cudnn,
                        .training = optnet.training,
                        .inplace = optnet.inplace,
                        .keep_grads = !optnet.remove_grad_params,
                        .loss = true});
}

Planned plan_optnet_run(const Options& options, TorchProgram torch, const Program& program, Prepared& prepared) {
  torch.program = program;
  Planned planned{.program = program, .plan = {}, .workspaces = workspaces_of(program, prepared)};
  OptnetPlan made = plan_optnet(torch, optnet_options(options.memopt), planned.workspaces);
  planned.plan = std::move(made.plan);
  if (made.kept_apart > 0)
    planned.notes.push_back(
        message("optnet would share ", made.kept_apart, " bytes more, which are needed longer than it believed"));
  return planned;
}

}  // namespace lethe
