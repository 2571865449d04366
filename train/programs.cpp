#include "train/programs.h"

#include "framework/autodiff.h"
#include "framework/error.h"
#include "models/network.h"
#include "optimizer/optimizer.h"
#include "train/recipe.h"

namespace lethe {

Programs build_programs(const Options& options) {
  Programs programs{
      .network = build_network(options, true), .training = {}, .evaluation = build_network(options, false)};
  const Network& network = programs.network;
  check(network.loss != kNone, options.model, ": has no \"loss\" to train by");
  programs.training = network.program;
  const std::vector<ParamGrad> gradients = append_backward(programs.training, network.loss);
  programs.learning_rate =
      append_updates(programs.training, gradients, network.params, optimizer_of(options)).learning_rate;
  return programs;
}

Network build_network(const Options& options, bool training) {
  return load_network(options.model, build_options(options, training), sets_of(options));
}

Plans plan_programs(const Programs& programs, bool evaluated, const std::string& memopt, Prepared& prepared) {
  const MemoptOptions options = parse_memopt(memopt);
  Plans plans{.training = plan_memory(programs.training, prepared, options), .evaluation = {}, .bytes = {}};
  if (evaluated) plans.evaluation = plan_memory(programs.evaluation.program, prepared, options);
  const Bytes& evaluation = plans.evaluation.plan.bytes;
  plans.bytes = plans.training.plan.bytes;
  plans.bytes.inputs += evaluation.inputs;
  plans.bytes.temps += evaluation.temps;
  plans.bytes.workspace += evaluation.workspace;
  return plans;
}

VarId image_input(const Network& network) {
  check(network.correct != kNone, network.name, ": data sets give images and labels, which takes a cross_entropy loss");
  check(network.inputs.size() == 2, network.name, ": has ", network.inputs.size(),
        " inputs, but data sets give an image and its label");
  return network.inputs[network.inputs[0] == network.target ? 1 : 0];
}

std::unique_ptr<Dataset> open_data(const Options& options, const Network& network, const Notify& notify) {
  const ImageShape image = image_shape_of(network.program.vars[image_input(network)].shape);
  const std::int64_t classes = network.program.vars[network.prediction].shape.back();
  return open_dataset(*options.data, image, classes, *options.seed, notify);
}

}  // namespace lethe
