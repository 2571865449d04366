// `train show`: a network before it runs.
#include <cstdio>

#include "framework/text.h"
#include "kernels/cpu_device.h"
#include "train/commands.h"
#include "train/programs.h"
#include "train/recipe.h"
#include "train/summary.h"

namespace lethe {
namespace {

Program planned(const Program& program, const MemoptOptions& memopt, int threads) {
  Prepared prepared(open_cpu(threads)->info());
  return plan_memory(program, prepared, memopt).program;
}

Program planned_evaluation(const Options& options) {
  const Network network = build_network(options, false);
  return planned(network.program, evaluation_memopt(options, network), options.threads);
}

Program planned_training(const Options& options) {
  const Programs programs = build_programs(options);
  return planned(programs.training, training_memopt(options, programs.network), options.threads);
}

std::string shown(const Options& options) {
  if (options.format == "text") return layer_table(build_network(options, !options.inference));
  const Program program = options.inference ? planned_evaluation(options) : planned_training(options);
  if (options.format == "json") return to_json(program) + "\n";
  return options.format == "dot" ? to_dot(program) : to_text(program);
}

}  // namespace

int show(const Options& given) {
  const std::string text = shown(decided(given));
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}

}  // namespace lethe
