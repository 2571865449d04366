// `train eval`: how well weights do.
#include <cmath>
#include <cstdio>

#include "framework/error.h"
#include "train/commands.h"
#include "train/report/score_report.h"
#include "train/report/streams.h"
#include "train/session/device.h"
#include "train/session/evaluator.h"
#include "train/session/fed_data.h"
#include "train/session/programs.h"
#include "train/session/start.h"
#include "train/settings_of_options.h"
#include "train/weights_recipe.h"

namespace lethe {
namespace {

Planned planned_by_optnet(const ProgramSetting& setting, const Network& network, Prepared& prepared) {
  const OptnetOptions& optnet = *setting.memory.optnet;
  const TorchProgram torch = optnet_program(optnet, setting.network, network);
  return plan_optnet_run(optnet, torch, torch.program, prepared);
}

}  // namespace

int evaluate(const Options& given) {
  check(!given.weights.empty(), "--weights is missing: the directory of a run or checkpoint, or a safetensors file");
  const std::optional<SavedRun> run = run_of_weights(given.weights);
  const Options options = decided_by_run(given, run);
  check_data_known(options, run);
  const ProgramSetting setting = program_setting(options);
  const bool optnet = setting.memory.optnet.has_value();
  Network network = build_network(setting.network, optnet);  // optnet takes it as built for training
  const Notify notify = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  note_other_numbers(options, run, notify);
  const std::unique_ptr<Samples> data = open_data(options.data, setting.network.seed, network, notify, meaning_of(run));
  if (setting.pixels && !optnet) take_bytes(network, data->pixels());
  const std::unique_ptr<Device> device = open_device(options.device);
  Prepared prepared(*device);
  const Planned planned =
      optnet ? planned_by_optnet(setting, network, prepared) : plan_evaluation(network, setting.memory, prepared);
  for (const std::string& line : planned.log) std::puts(line.c_str());
  device->reserve(reserved_bytes({&planned}, 0, device->info().alignment));
  Store store(*device);
  Evaluator evaluator(network, planned, prepared, store, *data);
  read_weights(options.weights, store, network);
  ClassCounts counts(wants_logits(options) ? network.classes : 0, options.top, options.confusion);
  const Scores scores = evaluator.run(wants_logits(options) ? &counts : nullptr);
  const ScoreParts parts{.top = options.top > 0, .by_class = options.by_class, .confusion = options.confusion};
  write_result("", scores_as(options.format, scores, counts, data->classes(), parts));
  check_as(Exit::Numeric, std::isfinite(scores.loss), "the loss is ", scores.loss,
           " although all weights are finite: values on the way are too large for ", name_of(options.dtype));
  return 0;
}

}  // namespace lethe
