// Each bad input ends in one line on stderr and the documented exit code.
#include <gtest/gtest.h>

#include <algorithm>

#include "framework/error.h"
#include "tests/train/run_fixture.h"

namespace lethe::testing {
namespace {

class BadInput : public RunTest {
 protected:
  void expect(const std::vector<std::string>& args, int code, const std::string& part) const {
    const Ended ended = run_train(args);
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_NE(ended.err.find(part), std::string::npos) << ended.err;
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  }
  void expect_run(std::vector<std::string> more, int code, const std::string& part) const {
    more.push_back("--quiet");
    expect(small(more), code, part);
  }
  /// A network file with these layers.
  std::string network(const std::string& layers) const {
    std::ofstream(path("bad.json")) << R"({"version": 1, "name": "bad", "inputs": {"image": {"shape": [3, 8, 8]},
      "label": {"shape": [], "dtype": "i32"}}, "layers": [)"
                                    << layers << R"(, {"op": "fc", "out": 4, "name": "logits"}],
      "loss": [{"op": "cross_entropy", "in": "logits", "target": "label"}]})";
    return path("bad.json");
  }
  /// Tells 30 symbols apart, each from the one before alone.
  std::string next_symbol_network() const {
    write("next.json", R"({"version": 1, "inputs": {"text": {"shape": [1], "dtype": "i32"},
      "next": {"shape": [], "dtype": "i32"}},
      "layers": [{"op": "embedding", "vocab": 30, "out": 8}, {"op": "fc", "out": 30, "name": "logits"}],
      "loss": [{"op": "cross_entropy", "in": "logits", "target": "next"}]})");
    return path("next.json");
  }
  void write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << bytes;
  }
};

TEST_F(BadInput, UnknownModel) { expect({"--model", "lenett"}, 2, "did you mean 'lenet'?"); }

TEST_F(BadInput, UnknownLayerKey) {
  expect({"--model", network(R"({"op": "conv", "out": 4, "k": 3, "strid": 2})")}, 2, "did you mean 'stride'?");
}

TEST_F(BadInput, SyntaxError) {
  write("broken.json", "{\"version\": 1,\n  \"name\": }");
  expect({"--model", path("broken.json")}, 2, "broken.json:2:");
}

TEST_F(BadInput, MissingShape) {
  write("shapeless.json", R"({"version": 1, "name": "x", "inputs": {"image": {}}, "layers": [{"op": "relu"}]})");
  expect({"--model", path("shapeless.json")}, 2, "shape");
}

TEST_F(BadInput, BranchesOfDifferentShape) {
  expect({"--model", network(R"({"branches": [[{"op": "conv", "out": 4, "k": 3}], []], "join": "add"})")}, 2,
         "bad.json:");
}

TEST_F(BadInput, TruncatedData) {
  write("cifar/data_batch_1.bin", std::string(3073 * 20 - 5, '\0'));
  write("cifar/test_batch.bin", std::string(3073 * 20, '\0'));
  expect({"--model", "resnet20", "--data", "cifar10:" + path("cifar"), "--quiet"}, 4, "data_batch_1.bin");
}

TEST_F(BadInput, LabelsOutOfRange) {
  std::string records(3073 * 40, '\0');
  records[3073] = 77;
  write("cifar/data_batch_1.bin", records);
  write("cifar/test_batch.bin", records);
  expect({"--model", "resnet20", "--batch", "8", "--data", "cifar10:" + path("cifar"), "--quiet"}, 4, "77");
}

TEST_F(BadInput, ImagesThatDoNotFitTheNetwork) {
  write("cifar/data_batch_1.bin", std::string(3073 * 40, '\0'));
  write("cifar/test_batch.bin", std::string(3073 * 40, '\0'));
  expect({"--model", "lenet", "--data", "cifar10:" + path("cifar"), "--quiet"}, 4, "28x28");
}

TEST_F(BadInput, ATextWithOneCharacterOrNone) {
  const std::string net = next_symbol_network();
  const auto text = [&](const std::string& name) { return "text:" + path(name); };
  write("empty.txt", "");
  write("same.txt", std::string(500, 'x'));
  write("short.txt", "abcabcabc");
  write("text.txt", "0123456789 the quick brown fox jumps over the lazy dog");
  expect({"--model", net, "--data", text("empty.txt"), "--quiet"}, 4, "empty.txt: is empty");
  expect({"--model", net, "--data", text("same.txt"), "--quiet"}, 4, "has one character alone, 500 times");
  expect({"--model", net, "--data", text("short.txt"), "--quiet"}, 4, "take at least 20; --set length=L");
  expect({"--model", net, "--data", text("text.txt"), "--quiet"}, 4, "has 37 different characters");
  expect({"--model", net, "--data", text("nowhere.txt"), "--quiet"}, 4, "nowhere.txt: cannot be opened");
}

TEST_F(BadInput, SequencesThatTheNetworkDoesNotRead) {
  expect({"--model", next_symbol_network(), "--data", "shapes", "--quiet"}, 2, "the network takes sequences");
  expect({"--model", next_symbol_network(), "--augment", "flip", "--quiet"}, 2, "are not augmented");
  expect({"--model", "lenet", "--data", "sentences", "--quiet"}, 2, "the network takes images");
}

TEST_F(BadInput, MissingDataSaysWhereToGetIt) {
  expect({"--model", "lenet", "--data", "mnist:" + path("nowhere"), "--quiet"}, 4, "MD5");
}

TEST_F(BadInput, UnknownDataSet) { expect({"--model", "lenet", "--data", "shapez"}, 2, "did you mean 'shapes'?"); }

TEST_F(BadInput, BatchOfNothingOrMoreThanTheData) {
  expect_run({"--batch", "0"}, 2, "--batch: must be at least 1, not 0");
  expect_run({"--batch", "161"}, 2, "batch 161 is larger than the data");
  expect_run({"--epochs", "0"}, 2, "--epochs: must be at least 1, not 0");
}

TEST_F(BadInput, UnknownOptimizerScheduleOrAugmentation) {
  expect_run({"--optimizer", "adm"}, 2, "did you mean 'adam'?");
  expect_run({"--schedule", "cosin"}, 2, "cosin");
  expect_run({"--augment", "flop"}, 2, "did you mean 'flip'?");
}

TEST_F(BadInput, ALossThatIsNoNumber) {
  const std::string lower = "try a smaller --lr", longer = ", a longer warm-up or --clip-norm 1\n";
  expect_run({"--lr", "1e30", "--schedule", "constant"}, 5,
             lower + ", a warm-up (--schedule constant+warmup@500) or --clip-norm 1\n");
  expect_run({"--lr", "1e30", "--schedule", "constant", "--clip-norm", "1e6"}, 5,
             lower + " or a warm-up (--schedule constant+warmup@500)\n");
  expect_run({"--lr", "1e30", "--schedule", "constant+warmup@3"}, 5, lower + longer);
  expect_run({"--lr", "1e30", "--schedule", "one-cycle"}, 5,
             lower + ", a longer rise (--schedule one-cycle@40%) or --clip-norm 1\n");
  expect_run({"--lr", "1e30", "--schedule", "one-cycle@40%"}, 5, lower + ", a longer rise or --clip-norm 1\n");
  expect_run({"--lr", "1e30", "--schedule", "one-cycle*warmup@3"}, 5, lower + longer);
}

TEST_F(BadInput, MoreStepsThanCanBeCounted) {
  expect_run({"--epochs", "922337203685477581"}, 2, "--epochs: 922337203685477581 epochs of 10 steps are more than");
}

TEST_F(BadInput, WeightsThatTheLastUpdateRuined) {
  ASSERT_EQ(run_train(small({"--epochs", "1", "--save", path("run"), "--schedule", "constant"})).code, 0);
  const std::string before = checkpoint_bytes("run");
  const std::vector<std::string> one_more = {"--resume",       path("run"), "--steps",      "11", "--lr",      "1e30",
                                             "--weight-decay", "1e30",      "--eval-every", "0",  "--threads", "1",
                                             "--quiet"};
  expect(one_more, 5, "holds values that are not finite after step 11: nothing is saved");
  EXPECT_EQ(checkpoint_bytes("run"), before);
}

TEST_F(BadInput, AnEvaluationOfWeightsThatTheLastUpdateRuined) {
  expect_run({"--steps", "1", "--lr", "1e30", "--weight-decay", "1e30", "--schedule", "constant"}, 5,
             "the loss of the evaluation is not a number at step 1");
}

TEST_F(BadInput, MoreThreadsThanAnyMachineRuns) {
  expect_run({"--threads", "100000"}, 2, "--threads: must be at most 1024, not 100000");
  expect_run({"--keep", "99999999999"}, 2, "--keep: must be at most 2147483647, not 99999999999");
}

TEST_F(BadInput, WeightsThatAreNoFile) {
  expect_run({"--weights", "/dev/zero"}, 4, "/dev/zero: cannot be opened as a file");
}

TEST_F(BadInput, NormsOfSettingsWithoutSense) {
  expect({"--model", network(R"({"op": "bn", "eps": -1})")}, 2, "'eps' of 'bn' is -1, expected at least 0");
  expect({"--model", network(R"({"op": "bn", "momentum": 7})")}, 2, "'momentum' of 'bn' is 7, expected 0 to 1");
  expect({"--model", network(R"({"op": "layer_norm", "eps": -1})")}, 2,
         "'eps' of 'layer_norm' is -1, expected at least 0");
}

TEST_F(BadInput, ABatchOfOneValueAChannel) {
  const std::string net = network(R"({"op": "global_avg_pool"}, {"op": "bn"})");
  expect({"--model", net, "--batch", "1", "--steps", "1"}, 2, "bn1: batch_norm: 1 value a channel");
}

TEST_F(BadInput, AStateWhoseNumbersAreNotWhole) {
  ASSERT_EQ(run_train(small({"--epochs", "1", "--save", path("run")})).code, 0);
  const std::string file = path("run/step-000010/state.json"), state = bytes_in(file);
  for (const auto& [key, good] : {std::pair{"step", "10"}, {"seed", "0"}})
    for (const char* bad : {"99999999999999999999", "1.5", "null"}) {
      std::string text = state;
      const std::string field = message('"', key, "\": ");
      text.replace(text.find(field) + field.size(), std::string_view(good).size(), bad);
      std::ofstream(file) << text;
      expect({"--resume", path("run"), "--epochs", "2", "--quiet"}, 4, message("'", key, "' is "));
    }
}

TEST_F(BadInput, AnUnwritableSaveDirectory) {
  write("file", "");
  expect_run({"--save", path("file/run")}, 2, path("file/run"));
}

TEST_F(BadInput, ResumeOfAnotherNetwork) {
  ASSERT_EQ(run_train(small({"--epochs", "1", "--save", path("run")})).code, 0);
  expect({"--resume", path("run"), "--model", "lenet", "--data", "shapes:train=160,test=40", "--quiet"}, 2, "lenet");
  expect({"--resume", path("run"), "--batch", "8", "--quiet"}, 2, "--batch: the run in");
  expect({"--resume", path("run"), "--data", "shapes:train=320,test=40", "--epochs", "5", "--quiet"}, 4, "same data?");
}

TEST_F(BadInput, ResumeOfNothing) { expect({"--resume", path("nowhere")}, 4, path("nowhere")); }

TEST_F(BadInput, ANewRunIntoTheDirectoryOfAnother) {
  ASSERT_EQ(run_train(small({"--epochs", "1", "--save", path("run")})).code, 0);
  expect_run({"--save", path("run")}, 2, "holds checkpoints of a run already");
}

TEST_F(BadInput, TruncatedWeights) {
  ASSERT_EQ(run_train({"export", "--model", path("small.json"), "--output", path("w")}).code, 0);
  const std::string whole = bytes_in(path("w"));
  write("cut", whole.substr(0, whole.size() - 7));
  expect_run({"--weights", path("cut")}, 4, path("cut"));
  expect({"eval", "--model", path("small.json"), "--weights", path("nowhere")}, 4, path("nowhere"));
}

TEST_F(BadInput, WeightsOfAnotherNetwork) {
  ASSERT_EQ(run_train({"export", "--model", "lenet", "--output", path("w")}).code, 0);
  expect_run({"--weights", path("w")}, 4, path("w"));
}

TEST_F(BadInput, AnEmptyValueIsNamedByItsOption) {
  for (const char* option : {"--save", "--resume", "--data", "--metrics", "--log-json", "--optimizer", "--schedule",
                             "--augment", "--weights", "--device", "--memopt", "--batch", "--set", "--skip-vars"}) {
    expect_run({option, ""}, 2, message(option, ": the value is empty"));
    expect_run({message(option, "=")}, 2, message(option, ": the value is empty"));
  }
  expect({"pack", ""}, 2, "an argument is empty");
  expect({""}, 2, "an argument is empty");
  expect({"graph", "--model", "lenet", "--out", ""}, 2, "--out: the value is empty");
}

TEST_F(BadInput, WordsThatTakeNoValueOrStandThereTwice) {
  expect_run({"--augment", "flip=3"}, 2, "--augment: 'flip=3': flip takes no value");
  expect_run({"--augment", "none,flip"}, 2, "'none' stands alone");
  expect_run({"--augment", "flip,"}, 2, "has no word at its end");
  expect_run({"--augment", "pad-crop="}, 2, "must name pixels, as in pad-crop=4");
  for (const auto& [spec, part] : {std::pair{"shapes:", "got ''"},
                                   {"shapes:train=160,", "got ''"},
                                   {"shapes:train=160,train=200", "train stands twice"},
                                   {"synthetic:", "expected a number from 1"}})
    expect({"--model", path("small.json"), "--data", spec, "--quiet"}, 2, part);
  expect({"bench", "--model", path("small.json"), "--settings", "none;"}, 2, "has an empty setting");
}

TEST_F(BadInput, NumbersThatAreNoneInF32) {
  for (const char* option : {"--loss-scale", "--lr", "--clip-norm", "--weight-decay"}) {
    expect_run({option, "1e39"}, 2, "must be at most 3.40282e+38, not 1e39");
    expect_run({option, "1e-50"}, 2, "must be at least 1.17549e-38, not 1e-50");
    for (const char* none : {"nan", "inf", "1e400", "0x10", " 1", "1 ", "1,5", "\u0663", "12345678901234567890x"})
      expect_run({option, none}, 2, "is not a number");
  }
  expect_run({"--schedule", "step@99999999999999999999e"}, 2, "expected step@TIME");
  expect_run({"--schedule", "poly^99999999999999999999"}, 2, "expected poly");
}

TEST_F(BadInput, MessagesShowNoMoreOfAValueThanTellsWhichItIs) {
  constexpr std::size_t kLong = 3000, kFar = 100'000;  // an argument that a path could be, and one that nothing is
  for (const char* option : {"--data", "--optimizer", "--schedule", "--augment", "--device", "--memopt", "--batch",
                             "--lr", "--dtype", "--set", "--save-every", "--skip-vars", "--seed"})
    for (const std::size_t length : {kLong, kFar}) {
      std::vector<std::string> args = small({"--quiet"});
      args.insert(args.end(), {option, std::string(length, '7')});
      const Ended ended = run_train(args);
      EXPECT_EQ(ended.code, 2) << option << ended.err.substr(0, 200);
      EXPECT_LT(ended.err.size(), 500U) << option;
    }
  for (const std::string& word : {std::string(kLong, 'x'), "--" + std::string(kLong, 'x'), std::string(kFar, 'x')}) {
    const Ended ended = run_train({word});
    EXPECT_EQ(ended.code, 2);
    EXPECT_LT(ended.err.size(), 500U);
  }
}

TEST_F(BadInput, AnExportUnderTheNameOfAnotherFormat) {
  for (const char* name : {"x.PT", "x.pth", "x.bin", "x.ckpt", "x.h5"}) {
    expect({"export", "--model", path("small.json"), "--output", path(name)}, 2, "x.safetensors");
    EXPECT_FALSE(std::filesystem::exists(path(name)));
  }
}

TEST_F(BadInput, FilesThatNeverEnd) {
  std::filesystem::create_symlink("/dev/zero", path("zero.json"));
  expect({"--model", path("zero.json")}, 2, "zero.json: goes on beyond 64 MiB");
  expect({"pack", "/dev/zero"}, 4, "/dev/zero:1: a line goes on beyond 64 KiB");
  expect({"--model", next_symbol_network(), "--data", "text:/dev/zero", "--quiet"}, 4, "/dev/zero: cannot be opened");
}

TEST_F(BadInput, DevicesAndMemorySettingsThatAreNotThere) {
  expect_run({"--device", "cuda:999"}, 6, "--device");
  expect_run({"--memopt", "level=9"}, 2, "--memopt level=9: unknown setting 'level=9'; known: none, level=0");
  expect_run({"--memopt", "level=2,release"}, 2, "nothing to release");
  expect_run({"--skip-vars", "h1.z"}, 2, "--skip-vars");
}

}  // namespace
}  // namespace lethe::testing
