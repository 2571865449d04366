// `train show`: a network before it runs.
#include "framework/text.h"
#include "train/commands.h"
#include "train/report/streams.h"
#include "train/report/summary.h"
#include "train/session/device.h"
#include "train/session/programs.h"
#include "train/session/start.h"
#include "train/settings_of_options.h"
#include "train/weights_recipe.h"

namespace lethe {
namespace {

std::string text_of_network(const Options& options) {
  if (options.format == "text") return layer_table(build_network(network_setting(options), !options.inference));
  Prepared prepared(device_info(options.device));
  const Program program = planned_program(program_setting(options), prepared).program;
  if (options.format == "json") return to_json(program) + "\n";
  return options.format == "dot" ? to_dot(program) : to_text(program);
}

}  // namespace

int show(const Options& given) {
  write_result("", text_of_network(decided_by_run(given, run_of_weights(given.weights))));
  return 0;
}

}  // namespace lethe
