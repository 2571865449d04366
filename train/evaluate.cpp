// `train eval`: how well weights do.
#include <cstdio>

#include "framework/error.h"
#include "train/commands.h"
#include "train/device.h"
#include "train/evaluator.h"
#include "train/optnet_run.h"
#include "train/programs.h"
#include "train/recipe.h"
#include "train/report/streams.h"
#include "train/score_report.h"
#include "train/session/weights.h"
#include "train/start.h"

namespace lethe {
namespace {

Planned planned_by_optnet(const Options& options, const Network& network, Prepared& prepared) {
  const TorchProgram torch = optnet_program(options, network);
  return plan_optnet_run(options, torch, torch.program, prepared);
}

}  // namespace

int evaluate(const Options& given) {
  check(!given.weights.empty(), "--weights is missing: the directory of a run or checkpoint, or a safetensors file");
  const Options options = decided_by_run(given, run_of_weights(given.weights));
  const bool optnet = asks_for_optnet(options.memopt);
  const Network network = build_network(options, optnet);  // optnet takes it as built for training
  const Notify notify = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  const std::unique_ptr<Samples> data = open_data(options, network, notify);
  const std::unique_ptr<Device> device = open_device(options);
  Prepared prepared(*device);
  const Planned planned =
      optnet ? planned_by_optnet(options, network, prepared) : plan_evaluation(network, options, prepared);
  for (const std::string& line : planned.log) std::puts(line.c_str());
  device->reserve(reserved_bytes({&planned}, 0, device->info().alignment));
  Store store(*device);
  Evaluator evaluator(options, network, planned, prepared, store, *data);
  load_weights(weights_file(options.weights), store, network);
  ClassCounts counts(wants_logits(options) ? network.program.vars[network.prediction].shape.back() : 0, options.top,
                     options.confusion);
  const Scores scores = evaluator.run(wants_logits(options) ? &counts : nullptr);
  const ScoreParts parts{.top = options.top > 0, .by_class = options.by_class, .confusion = options.confusion};
  write_result("", scores_as(options.format, scores, counts, data->classes(), parts));
  return 0;
}

}  // namespace lethe
