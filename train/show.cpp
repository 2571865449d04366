// `train show`: a network before it runs.
#include <cstdio>

#include "framework/text.h"
#include "train/commands.h"
#include "train/device.h"
#include "train/plan_report.h"
#include "train/programs.h"
#include "train/recipe.h"
#include "train/summary.h"

namespace lethe {
namespace {

std::string shown(const Options& options) {
  if (options.format == "text") return layer_table(build_network(options, !options.inference));
  Prepared prepared(device_info(options));
  const Program program = planned_program(options, prepared).program;
  if (options.format == "json") return to_json(program) + "\n";
  return options.format == "dot" ? to_dot(program) : to_text(program);
}

}  // namespace

int show(const Options& given) {
  const std::string text = shown(decided(given));
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}

}  // namespace lethe
