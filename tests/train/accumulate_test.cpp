// Runs that sum the gradients of a batch in parts in bf16.
#include <map>

#include "framework/builder/builder.h"
#include "framework/ranks/part_sums.h"
#include "framework/run/prepared.h"
#include "memopt/memory_map.h"
#include "tests/support/expect_error.h"
#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"
#include "tests/train/shared_runs.h"
#include "train/session/programs.h"

namespace lethe::testing {
namespace {

SessionSetting in_bf16(const std::string& model, std::int64_t parts) {
  SessionSetting setting = sharing(model, 8, parts);
  setting.program.shards.accumulate = DType::bf16;
  return setting;
}

std::string saved_by(const SessionSetting& setting) {
  const TemporaryFolder folder;
  train_to(2, setting, folder.text(), 1, 0);
  return saved_in(folder.text());
}

/// Of a network that counts steps for its dropout, and of one that does not.
TEST(AccumulateRun, HasTheSameBitsWithAnyMemorySettingThreadsAndWhereItGoesOn) {
  for (const auto& [model, dtype] : {std::pair("char_gpt", DType::bf16), {"lenet", DType::f32}}) {
    SCOPED_TRACE(model);
    SessionSetting setting = in_bf16(model, 4);
    setting.program.network.dtype = dtype;
    const std::string saved = saved_by(setting);
    for (const char* const memory : {"none", "level=0", "level=1,inplace", "level=2", "level=3"}) {
      SessionSetting other = setting;
      other.program.memory = memory_setting(memory, setting.program.memory);
      other.device.threads = 2;
      EXPECT_TRUE(saved_by(other) == saved) << memory;
    }
    const TemporaryFolder folder;
    for (const std::int64_t step : {1, 2}) train_to(step, setting, folder.text(), 1, 0);
    EXPECT_TRUE(saved_in(folder.text()) == saved);
    setting.program.shards.accumulate = DType::f32;
    EXPECT_FALSE(saved_by(setting) == saved);
  }
}

/// Whose activations are next to nothing beside its parameters.
Network wide_layers(const BuildOptions& options) {
  Builder net(options);
  VarId x = net.input("x", {64});
  for (const int layer : {1, 2, 3}) x = net.layer("fc", x, {{"out", 256}}, message("fc", layer));
  net.loss("cross_entropy", x, net.input("label", {}, DType::i32));
  return net.finish();
}

TEST(AccumulateRun, HalvesTheBytesOfSums) {
  const auto bytes = [](DType accumulate) {
    ProgramSetting setting = in_bf16("", 8).program;
    setting.network.build = wide_layers;
    setting.shards.accumulate = accumulate;
    MemorySetting memory = memory_setting("level=2");
    memory.levels.early_updates = false;  // parts stay one after the other
    Prepared prepared(DeviceInfo{});
    return plan_programs(build_programs(setting), false, memory, prepared).bytes;
  };
  const Bytes wide = bytes(DType::f32), low = bytes(DType::bf16);
  EXPECT_EQ(low.params, wide.params);
  const auto saved = static_cast<double>(wide.temps - low.temps), sum = static_cast<double>(wide.params);
  EXPECT_NEAR(saved, 3 * sum / 2, 0.01 * sum) << "three sums of all stand while the last part goes through";
}

TEST(AccumulateRun, ChangesNothingButSumsOfGradients) {
  const auto program = [](DType accumulate, std::int64_t parts) {
    ProgramSetting setting = in_bf16("lenet", parts).program;
    setting.shards.accumulate = accumulate;
    return build_programs(setting).training;
  };
  EXPECT_TRUE(program(DType::bf16, 1) == program(DType::f32, 1)) << "without parts";
  const Program in_parts = program(DType::bf16, 4);
  std::map<std::string, int> sums;  // by type
  for (const Op& op : in_parts.blocks[0].ops)
    if (in_parts.vars[op.out[0]].name.find("@SUM") != std::string::npos) ++sums[op.type];
  const std::vector<Category> categories = categories_of(in_parts);
  for (const Op& op : in_parts.blocks[0].ops)
    EXPECT_TRUE(op.type != kAccumulate || categories[op.in[1]] == Category::ParamGrads) << in_parts.vars[op.in[1]].name;
  const int parameters = 10, places = 5;  // in the tree, but for leaves that are added at once
  EXPECT_EQ(sums, (std::map<std::string, int>{{kAccumulate, parameters * places}, {kCast, parameters}, {kSum, 3}}))
      << "losses are summed as ever";
}

TEST(AccumulateRun, IsRefusedWhereItDoesNotGo) {
  const auto refusal = [](const auto& change) {
    ProgramSetting setting = in_bf16("lenet", 4).program;
    change(setting);
    return error_of([&] { build_programs(setting); });
  };
  EXPECT_EQ(refusal([](ProgramSetting& s) { s.network.dtype = DType::f16; }), "(nothing)");
  EXPECT_EQ(refusal([](ProgramSetting& s) {
              s.shards.rank = {1, 2};
            }),
            "`accumulate` bf16 goes with one rank; these are 2");
  EXPECT_EQ(refusal([](ProgramSetting& s) { s.shards.sums = DType::f64; }),
            "`accumulate` bf16 goes with `sum_dtype` f32; this is f64");
  EXPECT_EQ(refusal([](ProgramSetting& s) { s.network.dtype = DType::f64; }),
            "`accumulate` bf16 goes with `dtype` f32, bf16 and f16; this is f64");
}

class AccumulateCommand : public RunTest {};

TEST_F(AccumulateCommand, ARunThatGoesOnKeepsIt) {
  const auto run = [&](const std::string& name, const std::string& epochs, const std::vector<std::string>& more) {
    std::vector<std::string> args = small({"--save", path(name), "--epochs", epochs, "--schedule", "constant"});
    args.insert(args.end(), more.begin(), more.end());
    return run_train(args);
  };
  const std::vector<std::string> in_parts = {"--micro-batch", "4", "--accumulate", "bf16"};
  EXPECT_EQ(run("whole", "2", in_parts).code, 0);
  EXPECT_EQ(run("cut", "1", in_parts).code, 0);
  EXPECT_EQ(run("cut", "2", {"--resume", "auto"}).code, 0);
  EXPECT_TRUE(checkpoint_bytes("cut/latest") == checkpoint_bytes("whole/latest"));
  const Ended other = run("cut", "3", {"--resume", "auto", "--accumulate", "f32"});
  EXPECT_EQ(other.code, 2);
  EXPECT_PRED2(says, other.err, "has bf16, not f32; it cannot go on with another");
  const Ended wide = run("wide", "1", {"--micro-batch", "4", "--accumulate", "bf16", "--sum-dtype", "f64"});
  EXPECT_EQ(wide.code, 2);
  EXPECT_PRED2(says, wide.err, "--accumulate bf16 goes with --sum-dtype f32; this is f64\n");
  const Ended whole = run("undivided", "1", {"--accumulate", "bf16"});
  EXPECT_EQ(whole.code, 2);
  EXPECT_PRED2(says, whole.err, "--accumulate bf16 is of a batch in parts: --micro-batch M or --shards V makes them\n");
  const Ended evaluated =
      run_train({"plan", "--model", "lenet", "--eval", "--micro-batch", "4", "--accumulate", "bf16"});
  EXPECT_EQ(evaluated.code, 2);
  EXPECT_PRED2(says, evaluated.err, "--accumulate: evaluation has no gradients\n");
}

}  // namespace
}  // namespace lethe::testing
