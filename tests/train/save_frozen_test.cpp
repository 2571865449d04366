// Checkpoints that name the file of their frozen weights instead of holding them.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"
#include "tests/train/shared_runs.h"
#include "train/session/run_state.h"
#include "train/session/safetensors.h"

namespace lethe::testing {
namespace {

using Words = std::vector<std::string>;

const Words kOfHead = {"logits.bias", "logits.weight"};
const Words kOfNorm = {"bn1.bias", "bn1.running_mean", "bn1.running_var", "bn1.weight"};

Words all_of(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

class SaveFrozen : public RunTest {
 protected:
  void SetUp() override {
    RunTest::SetUp();
    ASSERT_EQ(run_train(small({"--save", path("base"), "--steps", "2", "--seed", "7"})).code, 0);
    ASSERT_EQ(run_train({"export", "--weights", path("base"), "--output", path("w.safetensors")}).code, 0);
  }
  /// A run from that file, or from another.
  Ended run(const std::string& into, const Words& more, const std::string& from = "w.safetensors") const {
    const Ended ended = run_train(small(all_of({"--save", path(into), "--weights", path(from)}, more)));
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended;
  }
  Ended go_on(const std::string& in, const Words& more) const {
    const Ended ended = run_train(all_of({"--resume", path(in), "--threads", "1"}, more));
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended;
  }
  Words names_held(const std::string& run) const {
    Words names;
    const SafetensorsReader reader(path(run + "/weights.safetensors"));
    for (const TensorEntry& tensor : reader.tensors()) names.push_back(tensor.name);
    std::ranges::sort(names);
    return names;
  }
  std::string evaluated(const std::string& run) const {
    const Ended ended = run_train({"eval", "--weights", path(run), "--threads", "1", "--format", "json"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.out.substr(0, ended.out.find("\"ms"));
  }
  std::string exported(const std::string& run) const {
    const Ended ended = run_train({"export", "--weights", path(run), "--output", path("exported")});
    EXPECT_EQ(ended.code, 0) << ended.err;
    return bytes_in(path("exported"));
  }
  std::vector<WeightsElsewhere> elsewhere(const std::string& run) const {
    return read_state(path(run + "/latest")).elsewhere;
  }
  void change(const std::string& file) const {
    std::string bytes = bytes_in(path(file));
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    std::ofstream(path(file), std::ios::binary) << bytes;
  }
};

TEST_F(SaveFrozen, NamesTheFileAndGoesOnToTheBit) {
  const Words how = {"--train-only", "logits.*", "--steps", "8", "--save-every", "4", "--keep", "9"};
  run("yes", how);
  const Ended ended = run("no", all_of(how, {"--save-frozen", "no"}));
  EXPECT_PRED2(says, ended.err,
               message("checkpoints do not hold 6 of 6 frozen weights but need them from ", path("w.safetensors"),
                       "; keep that as it is"));
  EXPECT_EQ(names_held("no"), kOfHead);
  const auto size = [&](const std::string& run) {
    return static_cast<std::int64_t>(std::filesystem::file_size(path(run + "/weights.safetensors")));
  };
  EXPECT_GE(size("yes") - size("no"), 4 * (240 + 16));
  EXPECT_EQ(evaluated("no"), evaluated("yes"));
  EXPECT_EQ(exported("no"), exported("yes"));
  const std::string whole = checkpoint_bytes("no");
  std::filesystem::remove_all(path("no/step-000008"));
  std::filesystem::remove(path("no/latest"));
  go_on("no", {});
  EXPECT_TRUE(checkpoint_bytes("no") == whole);
  EXPECT_EQ(exported("no"), exported("yes"));
  go_on("no", {"--steps", "10", "--save-frozen", "yes"});
  go_on("yes", {"--steps", "10"});
  EXPECT_TRUE(checkpoint_bytes("no") == checkpoint_bytes("yes"));
}

TEST_F(SaveFrozen, RefusesAFileThatHasChangedOrGone) {
  run("run", {"--freeze", "conv1.*", "--steps", "2", "--save-frozen", "no"});
  const Words eval = {"eval", "--weights", path("run"), "--threads", "1"},
              resume = {"--resume", path("run"), "--threads", "1", "--steps", "3"},
              export_it = {"export", "--weights", path("run"), "--output", path("o.safetensors")},
              begin = small({"--weights", path("run"), "--steps", "1"});
  const auto refused = [&](const std::string& why) {
    for (const Words& words : {eval, resume, export_it, begin}) {
      const Ended ended = run_train(words);
      EXPECT_EQ(ended.code, 4) << ended.err;
      EXPECT_PRED2(says, ended.err, path("w.safetensors") + why);
      EXPECT_PRED2(says, ended.err, "does not hold frozen weights but needs them from there");
    }
  };
  change("w.safetensors");
  refused(": has changed, its SHA-256 is ");
  change("w.safetensors");
  EXPECT_EQ(run_train(eval).code, 0);
  std::filesystem::rename(path("w.safetensors"), path("moved.safetensors"));
  refused(": no such file; ");
  EXPECT_FALSE(std::filesystem::exists(path("o.safetensors")));
}

// What is not as the file has it is in the checkpoint.
TEST_F(SaveFrozen, HoldsWhatIsNotTheFiles) {
  const Words no = {"--save-frozen", "no", "--steps", "3"};
  run("stats", all_of(no, {"--freeze", "conv1.*"}));
  EXPECT_EQ(names_held("stats"), all_of(kOfNorm, kOfHead));  // running statistics go on
  run("parts", all_of(no, {"--freeze", "conv1.*", "--micro-batch", "8"}));
  EXPECT_EQ(names_held("parts"), all_of(kOfNorm, kOfHead));
  run("fresh", all_of(no, {"--freeze", "conv1.*,bn1.*", "--ignore", "conv1.bias", "--fresh", "conv1.bias"}));
  EXPECT_EQ(names_held("fresh"), all_of({"conv1.bias"}, kOfHead));
  EXPECT_EQ(elsewhere("fresh").front().ignore, "conv1.bias");
  run("fresh-yes", {"--steps", "3", "--freeze", "conv1.*,bn1.*", "--ignore", "conv1.bias", "--fresh", "conv1.bias"});
  EXPECT_EQ(exported("fresh"), exported("fresh-yes"));
  const auto refused = [&](const Words& words) {
    const Ended ended = run_train(small(all_of(no, words)));
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_PRED2(says, ended.err, "--save-frozen no: no frozen weight is as a file has it, so there is none to name");
  };
  refused({"--freeze", "conv1.*"});
  refused({"--weights", path("w.safetensors"), "--freeze", "conv1.*", "--ignore", "conv1.*", "--fresh", "conv1.*"});
  EXPECT_PRED2(says, run("all", no).err, "--save-frozen no changes nothing, since nothing is frozen");
}

// Trained for a while and then frozen again, conv1 is no longer the file's; and bn1 goes on.
TEST_F(SaveFrozen, GoesOnWithOthersFrozen) {
  const auto twice = [&](const std::string& name, const std::string& save) {
    const Words held = all_of(all_of(save == "no" ? Words{} : kOfNorm, {"conv1.bias", "conv1.weight"}), kOfHead);
    run(name, {"--freeze", "conv1.*,bn1.*", "--steps", "2", "--save-frozen", save});
    go_on(name, {"--freeze", "bn1.*", "--steps", "4"});
    EXPECT_EQ(names_held(name), held);
    go_on(name, {"--freeze", "conv1.*,bn1.*", "--steps", "6"});
    EXPECT_EQ(names_held(name), held);
    return go_on(name, {"--freeze", "conv1.*", "--steps", "8"});
  };
  twice("yes", "yes");
  const Ended last = twice("no", "no");
  EXPECT_PRED2(says, last.err, "checkpoints hold all frozen weights, since none is known to be as a file has it");
  EXPECT_TRUE(checkpoint_bytes("no") == checkpoint_bytes("yes"));
}

// Those who read it see the rounded weights that the run had, also in another dtype.
TEST_F(SaveFrozen, KeepsTheDtypeOfFrozenParameters) {
  const Words how = {"--freeze", "conv1.*,bn1.*", "--frozen-dtype", "bf16", "--steps", "3"};
  run("yes", how);
  run("no", all_of(how, {"--save-frozen", "no"}));
  EXPECT_EQ(names_held("no"), kOfHead);
  EXPECT_EQ(elsewhere("no").front().weights.at("conv1.weight"), "bf16");
  EXPECT_EQ(evaluated("no"), evaluated("yes"));
  EXPECT_EQ(exported("no"), exported("yes"));
  EXPECT_PRED2(says, go_on("yes", {"--frozen-dtype", "f32", "--steps", "5"}).err, "weights are bf16 in ");
  go_on("no", {"--frozen-dtype", "f32", "--steps", "5"});
  EXPECT_EQ(names_held("no"), all_of({"conv1.weight"}, kOfHead));
  EXPECT_EQ(exported("no"), exported("yes"));
}

TEST_F(SaveFrozen, BeginsFromARunThatHoldsNoFrozenWeights) {
  const Words freeze = {"--freeze", "conv1.*,bn1.*", "--steps", "2"};
  run("first", all_of(freeze, {"--save-frozen", "no"}));
  run("yes", {"--train-only", "bn1.*", "--steps", "3"}, "first");
  run("no", {"--train-only", "bn1.*", "--steps", "3", "--save-frozen", "no"}, "first");
  EXPECT_EQ(names_held("no"), kOfNorm);
  const std::vector<WeightsElsewhere> from = elsewhere("no");
  ASSERT_EQ(from.size(), 2U);
  EXPECT_EQ(from[0].files, Words{path("w.safetensors")});
  EXPECT_EQ(from[1].files, Words{std::filesystem::canonical(path("first/best/weights.safetensors")).string()});
  EXPECT_EQ(exported("no"), exported("yes"));
}

// An index, and the file that it names.
TEST_F(SaveFrozen, NamesAllFilesOfAnIndex) {
  std::string map;
  const SafetensorsReader weights(path("w.safetensors"));
  for (const TensorEntry& tensor : weights.tensors())
    map += message(map.empty() ? "" : ", ", '"', tensor.name, R"(": "w.safetensors")");
  std::ofstream(path("w.safetensors.index.json")) << R"({"weight_map": {)" << map << "}}";
  run("run", {"--train-only", "logits.*", "--steps", "2", "--save-frozen", "no"}, "w.safetensors.index.json");
  EXPECT_EQ(elsewhere("run").front().files, (Words{path("w.safetensors.index.json"), path("w.safetensors")}));
  evaluated("run");
  change("w.safetensors");
  const Ended ended = run_train({"eval", "--weights", path("run"), "--threads", "1"});
  EXPECT_EQ(ended.code, 4);
  EXPECT_PRED2(says, ended.err, path("w.safetensors") + ": has changed");
}

// Of shares, in any stage, and from such.
TEST(SaveFrozenRanks, HaveTheSameWeights) {
  SessionSetting setting = sharing("resnet20", 8, 4);
  const TemporaryFolder folder;
  const auto in = [&](const char* name) { return folder.text() + "/" + name; };
  train_to(1, setting, in("base"), 2, 3, true);
  setting.program.network.frozen.train_only = "logits.*";
  const auto from_base = [&](bool save) { return WeightsSetting{.path = in("base"), .save_frozen = save}; };
  train_to(4, setting, in("yes"), 1, 0, false, from_base(true));
  for (const bool sharded : {true, false}) {
    const std::string run = in(sharded ? "shares" : "whole");
    train_to(2, setting, run, 2, 3, sharded, from_base(false));
    EXPECT_EQ(read_state(run + "/latest").elsewhere.front().files.size(), 3U);
    train_to(4, setting, run, 2, 1, false, {.save_frozen = true});
    EXPECT_TRUE(saved_in(run) == saved_in(in("yes"))) << sharded;
  }
}

}  // namespace
}  // namespace lethe::testing
