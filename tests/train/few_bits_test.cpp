// Runs with states in 8 bits and parameters in bf16.
#include "tests/support/expect_error.h"
#include "tests/train/data_samples.h"
#include "tests/train/shared_runs.h"
#include "train/session/programs.h"
#include "train/session/safetensors.h"

namespace lethe::testing {
namespace {

SessionSetting in_few_bits(const std::string& model, const std::string& optimizer, bool coded, bool low) {
  SessionSetting setting = sharing(model, 8, 4, optimizer);
  setting.program.update.rule.states_in_8_bits = coded;
  if (low) setting.program.network.param_dtype = DType::bf16;
  return setting;
}

TEST(FewBits, StandInFilesAsTheyAre) {
  const TemporaryFolder folder;
  SessionSetting setting = in_few_bits("lenet", "adamw", true, true);
  setting.program.network.keep_f32 = "fc1.weight,conv1.*";
  const std::string run = folder.text() + "/run";
  train_to(1, setting, run, 1, 0);
  const SafetensorsReader weights(run + "/latest/weights.safetensors"), states(run + "/latest/optimizer.safetensors");
  int low = 0, coded = 0;
  for (const TensorEntry& weight : weights.tensors()) {
    const bool kept = weight.name.starts_with("conv1.") || weight.name == "fc1.weight";
    const bool is_low = weight.shape.size() > 1 && !kept;
    EXPECT_EQ(weight.dtype, is_low ? DType::bf16 : DType::f32) << weight.name;
    low += is_low;
    const bool is_coded = elements(weight.shape) >= 4096 && !kept;
    EXPECT_EQ(states.find(weight.name + "@m")->dtype, is_coded ? DType::dynamic8 : DType::f32) << weight.name;
    EXPECT_EQ(states.find(weight.name + "@v")->dtype, is_coded ? DType::udynamic8 : DType::f32) << weight.name;
    coded += is_coded;
  }
  EXPECT_GT(low, 0);
  EXPECT_GT(coded, 0);
}

TEST(FewBits, HaveTheSameBitsOnAnyRanksAndWhereARunGoesOn) {
  for (const bool low : {false, true})
    for (const char* const optimizer : {"adamw", "lion"}) {
      SCOPED_TRACE(message(optimizer, low ? " bf16" : ""));
      const SessionSetting setting = in_few_bits("lenet", optimizer, true, low);
      const TemporaryFolder folder;
      const std::string whole = folder.text() + "/whole", parts = folder.text() + "/parts";
      train_to(4, setting, whole, 1, 0);
      train_to(1, setting, parts, 4, 3, true);
      train_to(2, setting, parts, 2, 1, true);
      train_to(3, setting, parts, 1, 0);
      train_to(4, setting, parts, 2, 2);
      EXPECT_TRUE(saved_in(parts) == saved_in(whole));
    }
}

TEST(FewBits, HaveTheSameBitsWithAnyMemorySetting) {
  for (const char* const model : {"lenet", "char_gpt"}) {
    std::string first;
    for (const char* const memory : {"none", "level=1", "level=2", "level=3"}) {
      SessionSetting setting = in_few_bits(model, "adamw", true, true);
      setting.program.memory = memory_setting(memory, setting.program.memory);
      const TemporaryFolder folder;
      train_to(3, setting, folder.text(), 1, 0);
      const std::string saved = saved_in(folder.text());
      if (first.empty()) first = saved;
      EXPECT_TRUE(saved == first) << model << ' ' << memory;
    }
  }
}

TEST(FewBits, AreReadByNoRunOfOtherBits) {
  const TemporaryFolder folder;
  train_to(1, in_few_bits("lenet", "lion", true, false), folder.text(), 1, 0);
  EXPECT_PRED2(says, error_of([&] { train_to(2, in_few_bits("lenet", "lion", false, false), folder.text(), 1, 0); }),
               "@m' is dynamic8");
}

TEST(FewBits, AreRefusedWhereTheyDoNotGo) {
  const auto refusal = [](const std::string& optimizer, const auto& change) {
    SessionSetting setting = in_few_bits("lenet", optimizer, false, false);
    change(setting.program);
    return error_of([&] { build_programs(setting.program); });
  };
  for (const char* const optimizer : {"sgd", "rmsprop", "adafactor"})
    EXPECT_PRED2(says, refusal(optimizer, [](ProgramSetting& s) { s.update.rule.states_in_8_bits = true; }),
                 message("`state_dtype` 8bit is for momentum, nesterov, adam, adamw and lion, not for ", optimizer));
  const auto low = [](ProgramSetting& s) { s.network.param_dtype = DType::bf16; };
  for (const char* const optimizer : {"sgd", "momentum", "adam", "adamw", "rmsprop", "lion", "adafactor"})
    EXPECT_EQ(refusal(optimizer, low), "(nothing)") << optimizer;
  EXPECT_PRED2(says, refusal("adam", [](ProgramSetting& s) { s.network.keep_f32 = "*"; }), "`keep_f32` is for");
  EXPECT_PRED2(
      says,
      refusal("adam", [](ProgramSetting& s) { s.network.param_dtype = DType::bf16, s.network.keep_f32 = "nothing.*"; }),
      "`keep_f32`: no parameter is called 'nothing.*'");
  EXPECT_PRED2(says,
               refusal("adam", [](ProgramSetting& s) { s.network.param_dtype = DType::bf16, s.update.ema = 0.9; }),
               "`ema`");
  EXPECT_PRED2(
      says,
      refusal("adam", [](ProgramSetting& s) { s.network.param_dtype = DType::bf16, s.network.dtype = DType::f64; }),
      "`param_dtype` bf16 goes with");
}

/// On ranks gradients are sums in f32, whatever parameters and network are in.
TEST(FewBits, HaveGradientsInF32) {
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const char* const model : {"lenet", "char_gpt", "llama"}) {
      SessionSetting setting = in_few_bits(model, "adamw", true, true);
      setting.program.network.dtype = dtype;
      const Programs programs = build_programs(setting.program);
      int updates = 0;
      for (const Op& op : programs.training.blocks[0].ops) {
        if (op.type != "adam") continue;
        EXPECT_EQ(programs.training.vars[op.in[3]].dtype, DType::f32) << model;
        ++updates;
      }
      EXPECT_GT(updates, 0);
    }
}

}  // namespace
}  // namespace lethe::testing
