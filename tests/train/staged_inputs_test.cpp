// Training and evaluation in turn with their inputs copied beside the steps, as on a GPU.
#include <gtest/gtest.h>

#include <fstream>

#include "kernels/cpu/device.h"
#include "memopt/passes/stage_inputs.h"
#include "tests/support/late_device.h"
#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"
#include "train/data/augment.h"
#include "train/recipe.h"
#include "train/report/progress.h"
#include "train/session/fed_data.h"
#include "train/session/start.h"
#include "train/session/trainer.h"

namespace lethe::testing {
namespace {

void stage(Planned& planned) {
  planned.plan.staging = stage_inputs(planned.program, planned.live, planned.sharing, planned.plan, planned.workspaces);
  EXPECT_FALSE(planned.plan.staging.inputs.empty());
}

/// The records of a run but for their times: step, epoch, split, loss, accuracy and rate.
std::vector<std::string> records_of(const std::string& file) {
  std::ifstream in(file);
  std::vector<std::string> records;
  for (std::string line; std::getline(in, line);) {
    std::size_t end = 0;
    for (int cells = 0; cells < 6; ++cells) end = line.find(',', end) + 1;
    records.push_back(line.substr(0, end));
  }
  return records;
}

std::vector<std::string> records_of_run(const TemporaryFolder& folder, bool staged) {
  const Options options =
      decided(parse_options({"--model", folder.text() + "/small.json", "--data", "shapes:train=80,test=40", "--epochs",
                             "3", "--batch", "16", "--eval-every", "3", "--log-every", "1", "--threads", "1"}));
  const Programs programs = build_programs(options.program);
  const auto data = open_data(options.data.spec, 0, programs.network);
  const std::unique_ptr<Device> cpu = open_cpu(1);
  MeteredDevice device(std::make_unique<LateDevice>(*cpu));
  Batches batches(
      *data, training_batches(options.program.network.batch, options.program.network.dtype, options.data.augment, 0),
      device);
  Prepared prepared(device);
  Plans plans = plan_programs(programs, true, options.program.memory, prepared);
  if (staged) stage(plans.training), stage(plans.evaluation);
  Store store(device);
  Buffer arena(device, plans.arena);
  Executor executor(plans.training.program, plans.training.plan, prepared, store, &arena);
  Evaluator evaluator(programs.evaluation, plans.evaluation, prepared, store, *data, &arena);
  fill_store({}, options.program.network.seed, {}, programs.network, store);
  Progress progress(stderr, true);
  const std::string file = folder.text() + (staged ? "/staged.csv" : "/plain.csv");
  std::vector<std::unique_ptr<RecordFile>> metrics;
  metrics.push_back(std::make_unique<MetricsFile>(file, MetricsFile::Form::Csv, std::nullopt));
  const RunSetting run = options.course;
  RunReport report(progress, std::move(metrics));
  Trainer({.setting = run,
           .programs = programs,
           .executor = executor,
           .batches = batches,
           .evaluator = &evaluator,
           .store = store,
           .device = device,
           .listener = report},
          {})
      .run();
  return records_of(file);
}

// 5 batches an epoch, and an evaluation of 3 after each third step: within epochs, at their ends and at the run's.
TEST(StagedInputs, ARunWithEvaluationBetweenGivesTheSameRecords) {
  const TemporaryFolder folder;
  folder.write("small.json", std::string(kSmallNetwork));
  const std::vector<std::string> plain = records_of_run(folder, false);
  EXPECT_EQ(plain.size(), 1 + 15 + 5U);
  EXPECT_EQ(records_of_run(folder, true), plain);
}

}  // namespace
}  // namespace lethe::testing
