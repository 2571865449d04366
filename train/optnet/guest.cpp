// optnet's memory as a guest of `--memopt`: the program of Torch's modules, in the memory that optnet gave them.
#include "framework/error.h"
#include "train/optnet/optnet_plan.h"
#include "train/optnet/torch_notes.h"
#include "train/session/memory_guest.h"

namespace lethe {
namespace {

/// `program`: that of `torch`, with whatever was appended to it.
Planned planned_by_optnet(const OptnetOptions& optnet, TorchProgram torch, const Program& program, Prepared& prepared) {
  torch.program = program;
  Planned planned{.program = program, .plan = {}, .workspaces = workspaces_of(program, prepared)};
  OptnetPlan made = plan_optnet(torch, optnet, planned.workspaces);
  planned.plan = std::move(made.plan);
  if (made.kept_apart > 0)
    planned.notes.push_back(
        message("optnet would share ", made.kept_apart, " bytes more, which are needed longer than it believed"));
  return planned;
}

/// With the network's loss, to train by or to evaluate. Modules are Torch's own for f64, cudnn's for f32, as in the
/// published tables.
GuestProgram lowered_to_modules(const OptnetOptions& optnet, const Network& network, DType dtype) {
  const auto torch = std::make_shared<const TorchProgram>(
      torch_program(network, torch_notes(network.name),
                    {.backend = dtype == DType::f64 ? TorchBackend::Nn : TorchBackend::Cudnn,
                     .training = optnet.training,
                     .inplace = optnet.inplace,
                     .keep_grads = !optnet.remove_grad_params,
                     .loss = true}));
  return {
      .program = torch->program,
      .grads = torch->grads,
      .plan = [=](const Program& program,
                  Prepared& prepared) { return planned_by_optnet(optnet, *torch, program, prepared); },
      .plan_unshared =
          [=](Prepared& prepared) { return plan_as_defined(*torch, workspaces_of(torch->program, prepared)).plan; }};
}

GuestMemory read_optnet(const std::string& text) {
  const OptnetOptions optnet = parse_optnet(text);
  return {.training = optnet.training,
          .lower = [=](const Network& network, DType dtype) { return lowered_to_modules(optnet, network, dtype); }};
}

const RegisterGuest optnet_guest{{.word = kOptnetWord,
                                  .for_training = "optnet=training",
                                  .for_evaluation = "optnet=inference",
                                  .help = "the modules and sharing of optnet's tables",
                                  .elsewhere = "`train count` says what optnet would hold",
                                  .read = read_optnet}};

}  // namespace
}  // namespace lethe
