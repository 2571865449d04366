// Runs whose gradients stay in 16 bits.
#include "framework/builder/builder.h"
#include "framework/run/prepared.h"
#include "tests/support/expect_error.h"
#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"
#include "tests/train/shared_runs.h"
#include "train/session/programs.h"

namespace lethe::testing {
namespace {

SessionSetting narrow_of(const std::string& model, DType dtype) {
  SessionSetting setting = sharing(model, 4, 1, "adamw");
  setting.program.network.dtype = dtype;
  setting.program.network.grad_dtype = dtype;
  setting.program.update.rule.clip_norm = 1;
  return setting;
}

std::string saved_after_two(const SessionSetting& setting) {
  const TemporaryFolder folder;
  train_to(2, setting, folder.text(), 1, 0);
  return saved_in(folder.text());
}

/// Layers one after the other, loops, and a table.
TEST(NarrowGradients, GiveTheSameBitsWithAnyMemorySettingAndWhereARunGoesOn) {
  for (const auto& [model, dtype] :
       {std::pair("lenet", DType::f16), {"char_lstm", DType::bf16}, {"char_gpt", DType::bf16}}) {
    SCOPED_TRACE(model);
    SessionSetting setting = narrow_of(model, dtype);
    setting.program.memory = memory_setting("level=2", setting.program.memory);
    const std::string saved = saved_after_two(setting);
    for (const char* const memory : {"none", "level=1,inplace", "level=3"}) {
      SessionSetting other = setting;
      other.program.memory = memory_setting(memory, setting.program.memory);
      other.program.memory.levels.clip_passes = 2;
      EXPECT_TRUE(saved_after_two(other) == saved) << memory;
    }
    const TemporaryFolder folder;
    for (const std::int64_t step : {1, 2}) train_to(step, setting, folder.text(), 1, 0);
    EXPECT_TRUE(saved_in(folder.text()) == saved);
    setting.program.network.grad_dtype = {};
    EXPECT_FALSE(saved_after_two(setting) == saved);
  }
}

Network wide_layers(const BuildOptions& options) {
  Builder net(options);
  VarId x = net.input("x", {256});
  for (int layer = 0; layer < 16; ++layer) x = net.layer("fc", x, {{"out", 256}}, message("fc", layer));
  net.loss("cross_entropy", x, net.input("label", {}, DType::i32));
  return net.finish();
}

TEST(NarrowGradients, TakeHalfTheBytesWhereTheyWaitForANorm) {
  const auto bytes = [](std::optional<DType> grad_dtype, const char* memory) {
    ProgramSetting setting = narrow_of("", DType::bf16).program;
    setting.network.build = wide_layers;
    setting.network.grad_dtype = grad_dtype;
    setting.network.param_dtype = DType::bf16;  // no copies of weights beside them
    Prepared prepared(DeviceInfo{});
    return plan_programs(build_programs(setting), false, memory_setting(memory), prepared).bytes;
  };
  for (const char* const memory : {"none", "level=2"}) {
    const Bytes wide = bytes({}, memory), narrow = bytes(DType::bf16, memory);
    EXPECT_EQ(narrow.params, wide.params);
    const auto saved = static_cast<double>(wide.temps - narrow.temps), gradients = static_cast<double>(narrow.params);
    EXPECT_GT(saved, 0.8 * gradients) << memory << ": but for what one product takes to sum in f32";
    EXPECT_LE(saved, gradients) << memory;
  }
}

/// Sums over rows stay in f32: of parameters of one axis, and of tables, a row of which sums what all its uses give.
TEST(NarrowGradients, AreThoseOfProducts) {
  for (const bool low : {false, true})
    for (const char* const model : {"lenet", "vit_tiny", "gpt2", "llama"}) {
      ProgramSetting setting = narrow_of(model, DType::bf16).program;
      if (low) setting.network.param_dtype = DType::bf16;
      const Program training = build_programs(setting).training;
      int narrow = 0;
      for (const Op& op : training.blocks[0].ops) {
        if (op.type != "adam") continue;
        const Var& gradient = training.vars[op.in[3]];
        const bool is_sum = gradient.shape.size() == 1 || training.vars[op.in[0]].name == "tokens.weight";
        EXPECT_EQ(gradient.dtype, is_sum ? DType::f32 : DType::bf16) << model << ' ' << gradient.name;
        narrow += !is_sum;
      }
      EXPECT_GT(narrow, 0) << model;
    }
}

class NarrowCommand : public RunTest {};

TEST_F(NarrowCommand, ARunThatGoesOnKeepsThem) {
  const auto run = [&](const std::string& name, const char* epochs, std::vector<std::string> more) {
    more.insert(more.end(), {"--save", path(name), "--epochs", epochs, "--schedule", "constant"});
    return run_train(small(std::move(more)));
  };
  const std::vector<std::string> narrow = {"--dtype", "bf16", "--grad-dtype", "bf16"};
  EXPECT_EQ(run("whole", "2", narrow).code, 0);
  EXPECT_EQ(run("cut", "1", narrow).code, 0);
  EXPECT_EQ(run("cut", "2", {"--resume", "auto"}).code, 0);
  EXPECT_TRUE(checkpoint_bytes("cut/latest") == checkpoint_bytes("whole/latest"));
  const auto refused = [&](std::vector<std::string> more) {
    const Ended ended = run("refused", "1", std::move(more));
    EXPECT_EQ(ended.code, 2);
    return ended.err;
  };
  EXPECT_PRED2(says, run("cut", "3", {"--resume", "auto", "--grad-dtype", "f32"}).err,
               "has bf16, not f32; it cannot go on with another");
  EXPECT_PRED2(says, refused({"--grad-dtype", "bf16"}),
               "--grad-dtype is bf16, expected f32 or a --dtype of 16 bits; --dtype is f32\n");
  EXPECT_PRED2(says, refused({"--grad-dtype", "f16", "--dtype", "bf16"}), "--grad-dtype is f16, expected");
  EXPECT_PRED2(says, refused({"--grad-dtype", "bf16", "--dtype", "bf16", "--micro-batch", "4"}),
               "--grad-dtype bf16 goes with a batch in one part; of 4 the gradients are summed, in bf16 with "
               "--accumulate bf16\n");
  EXPECT_PRED2(says,
               refused({"--grad-dtype", "bf16", "--dtype", "bf16", "--micro-batch", "auto", "--memory-budget", "1GiB"}),
               "--grad-dtype: --micro-batch auto may cut the batch into parts");
  const Ended evaluated = run_train({"plan", "--model", "lenet", "--eval", "--dtype", "bf16", "--grad-dtype", "bf16"});
  EXPECT_EQ(evaluated.code, 2);
  EXPECT_PRED2(says, evaluated.err, "--grad-dtype: evaluation has no gradients\n");
}

}  // namespace
}  // namespace lethe::testing
