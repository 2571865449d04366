// Networks that are fed images as bytes, as on a GPU, against those that are fed what the host made of them.
#include <gtest/gtest.h>

#include "framework/language/op_def.h"
#include "kernels/cpu/device.h"
#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"
#include "train/data/augment.h"
#include "train/recipe.h"
#include "train/session/evaluator.h"
#include "train/session/fed_data.h"
#include "train/session/start.h"
#include "train/session/trainer.h"

namespace lethe::testing {
namespace {

/// A run leaves these: every parameter and state, the scores of an evaluation, and what was planned.
struct Left {
  std::map<std::string, std::vector<std::byte>> stored = {};
  Scores scores = {};
  Bytes bytes = {};
};

Left left_by_run(const TemporaryFolder& folder, bool as_bytes, const std::vector<std::string>& more) {
  std::vector<std::string> args = {"--model",     folder.text() + "/small.json",
                                   "--data",      "shapes:train=80,test=40",
                                   "--steps",     "6",
                                   "--batch",     "16",
                                   "--threads",   "1",
                                   "--augment",   "flip,pad-crop=1,cutout=3",
                                   "--log-every", "1000000"};
  args.insert(args.end(), more.begin(), more.end());
  const Options options = decided(parse_options(args));
  ProgramSetting setting = options.program;
  const auto data = open_data(options.data.spec, 0, build_network(setting.network, true));
  if (as_bytes) setting.pixels = data->pixels();
  const Programs programs = build_programs(setting);
  const DType fed = programs.network.program.vars[fed_inputs(programs.network).samples].dtype;
  EXPECT_EQ(fed, as_bytes ? DType::u8 : options.program.network.dtype);
  MeteredDevice device(open_cpu(1));
  Batches batches(*data, training_batches(options.program.network.batch, fed, options.data.augment, 0), device);
  Prepared prepared(device);
  const Plans plans = plan_programs(programs, true, options.program.memory, prepared);
  Store store(device);
  Buffer arena(device, plans.arena);
  Buffer* const shared = plans.arena > 0 ? &arena : nullptr;
  Executor executor(plans.training.program, plans.training.plan, prepared, store, shared);
  Evaluator evaluator(programs.evaluation, plans.evaluation, prepared, store, *data, shared);
  fill_store({}, options.program.network.seed, {}, programs.network, store);
  const RunSetting run = options.course;
  Listener silent;
  Trainer({.setting = run,
           .programs = programs,
           .executor = executor,
           .batches = batches,
           .store = store,
           .device = device,
           .listener = silent},
          {})
      .run();
  Left left{.stored = {}, .scores = evaluator.run(), .bytes = plans.training.plan.bytes};
  for (const std::string& name : store.names()) left.stored[name] = store.read(name);
  return left;
}

TEST(ByteImages, GiveTheBitsOfImagesThatTheHostNormalised) {
  const TemporaryFolder folder;
  folder.write("small.json", std::string(kSmallNetwork));
  const std::vector<std::vector<std::string>> runs = {{},
                                                      {"--memopt", "none"},
                                                      {"--memopt", "level=3"},
                                                      {"--dtype", "f64"},
                                                      {"--dtype", "bf16"},
                                                      {"--micro-batch", "4"}};
  for (const std::vector<std::string>& more : runs) {
    SCOPED_TRACE(more.empty() ? "" : more.back());
    const Left floats = left_by_run(folder, false, more), bytes = left_by_run(folder, true, more);
    EXPECT_GT(floats.stored.size(), 5U);
    EXPECT_EQ(bytes.stored == floats.stored, true);
    EXPECT_EQ(bytes.scores.loss, floats.scores.loss);
    EXPECT_EQ(bytes.scores.correct, floats.scores.correct);
    EXPECT_LT(bytes.bytes.inputs, floats.bytes.inputs);
  }
}

TEST(ByteImages, AreForNetworksThatDataSetsFeedImages) {
  const auto takes = [](Network network) {
    const Network before = network;
    take_bytes(network, PixelNorm{});
    return !(network.program == before.program);
  };
  const auto network_of = [](const std::string& loss, DType dtype) {
    Builder net({.batch = 2});
    const VarId image = net.input("image", {4, 4, 3}, dtype);
    const VarId y =
        net.layer("fc", dtype == DType::f32 ? image : net.layer("cast", image, {{"dtype", "f32"}}), {{"out", 2}});
    if (loss == "mse")
      net.loss(loss, y, net.input("target", {2}));
    else
      net.loss(loss, y, net.input("label", {}, DType::i32));
    return net.finish();
  };
  EXPECT_TRUE(takes(network_of("cross_entropy", DType::f32)));
  EXPECT_FALSE(takes(network_of("mse", DType::f32))) << "no labels";
  EXPECT_FALSE(takes(network_of("cross_entropy", DType::u8))) << "bytes already";
}

}  // namespace
}  // namespace lethe::testing
