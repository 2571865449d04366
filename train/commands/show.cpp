// `train show`: a network before it runs.
#include "framework/language/text.h"
#include "train/option_groups.h"
#include "train/report/graph.h"
#include "train/report/streams.h"
#include "train/report/summary.h"
#include "train/session/device.h"
#include "train/session/programs.h"
#include "train/session/start.h"
#include "train/weights_recipe.h"

namespace lethe {
namespace {

std::string text_of_network(const Options& options) {
  if (options.format == "text") return layer_table(build_network(options.program.network, options.program.training));
  Prepared prepared(device_info(options.device));
  const Program program = planned_program(options.program, prepared).program;
  if (options.format == "json") return to_json(program) + "\n";
  return options.format == "dot" ? to_dot(program) : to_text(program);
}

int show(const Options& given) {
  write_result("", text_of_network(decided_by_run(given, run_of_weights(given.checkpoints.weights.path))));
  return 0;
}

Run declare_show(OptionSet& set, Options& o) {
  add_network(set, o);
  add_weights_of_run(set, o);
  add_batch(set, o, "Samples a step (default: as few as the network can be trained with)");
  add_micro_batch(set, o);
  add_optimizer(set, o);
  add_machine(set, o);
  add_memopt(set, o, "none");
  set.in("Output");
  set.add("--format", o.format, "FORM",
          "text: a table of layers (default); program, json or dot:\nthe training program with its backward and update "
          "ops")
      ->check(one_of({"text", "program", "json", "dot"}));
  add_evaluation(set, o, "The program of evaluation instead");
  return show;
}

const RegisterCommand show_command{
    {.word = "show",
     .help = "Prints the layers of a network, or its whole program.",
     .examples = {{"train show --model resnet20", "layers, shapes, parameters"},
                  {"train show --model lenet --format program", "every op, with backward and updates"}},
     .facts = {.takes_run = true, .one_sample = true},
     .declare = declare_show}};

}  // namespace
}  // namespace lethe
