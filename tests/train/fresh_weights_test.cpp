// Weights to begin with of which some may be new, and files with more than a network reads.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "kernels/cpu/device.h"
#include "models/network.h"
#include "tests/support/expect_error.h"
#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"
#include "tests/train/shared_runs.h"
#include "train/session/safetensors.h"
#include "train/session/start.h"
#include "train/session/weights.h"

namespace lethe::testing {
namespace {

/// body.weight [4,3] and .bias, logits.weight [classes,4] and .bias, under a library's names too.
constexpr const char* kHeaded = R"({
  "version": 1, "name": "headed", "vars": {"classes": 10},
  "inputs": {"x": {"shape": [3]}, "label": {"shape": [], "dtype": "i32"}},
  "layers": [{"op": "fc", "out": 4, "name": "body"}, {"op": "relu"}, {"op": "fc", "out": "=classes", "name": "logits"}],
  "loss": [{"op": "cross_entropy", "in": "logits", "target": "label"}],
  "weights": {"timm": {"prefix": "module.", "tensors": [
    {"tensor": ["q.weight", "k.weight"], "param": "body.weight", "rows": [1, 3]},
    {"tensor": "body_bias", "param": "body.bias"},
    {"tensor": "head.weight", "param": "logits.weight"},
    {"tensor": "head.bias", "param": "logits.bias"},
    {"tensor": "steps"}]}}
})";

using Lines = std::vector<std::string>;

struct Tensor {
  std::string name, dtype, shape;
  std::string data;
};

class FreshWeights : public ::testing::Test {
 protected:
  struct Headed {
    Network network;
    std::unique_ptr<Device> device = open_cpu(1);
    Store store{*device};
  };
  Headed headed(int classes, std::uint64_t seed) const {
    folder_.write("headed.json", std::string(kHeaded));
    Headed made{.network = load_network(folder_.text() + "/headed.json", {}, {{"classes", std::to_string(classes)}})};
    made.store.add(made.network.program);
    made.store.initialize(made.network.program, made.network.params, seed);
    return made;
  }
  std::string file() const { return folder_.text() + "/w.safetensors"; }
  /// The weights of the network with 10 classes, by seed 1.
  void save(const std::string& library = "", std::optional<DType> dtype = {}) const {
    Headed ten = headed(10, 1);
    save_weights(file(), ten.store, ten.network, library, dtype);
  }
  /// Adds to the saved file.
  void add(const std::vector<Tensor>& more) const {
    const std::string whole = bytes_in(file());
    const std::size_t length = static_cast<unsigned char>(whole[0]) + 256U * static_cast<unsigned char>(whole[1]);
    std::string header = whole.substr(8, length), data = whole.substr(8 + length);
    for (const Tensor& t : more) {
      header.insert(header.rfind('}'),
                    message(",\"", t.name, "\":{\"dtype\":\"", t.dtype, "\",\"shape\":", t.shape, ",\"data_offsets\":[",
                            data.size(), ",", data.size() + t.data.size(), "]}"));
      data += t.data;
    }
    while (header.size() % 8 != 0) header += ' ';
    std::string front;
    for (int i = 0; i < 8; ++i) front += static_cast<char>(header.size() >> (8 * i));
    folder_.write("w.safetensors", front + header + data);
  }
  static std::string refused(Headed& into, const WeightsSetting& setting) {
    std::vector<std::vector<std::byte>> before, after;
    for (const std::string& name : into.store.names()) before.push_back(into.store.read(name));
    std::string text = error_of([&] { read_weights(setting, into.store, into.network); });
    for (const std::string& name : into.store.names()) after.push_back(into.store.read(name));
    EXPECT_EQ(before, after);
    const std::size_t at = text.find(setting.path);
    return at == 0 ? text.substr(setting.path.size() + 2) : text;
  }
  static Lines lines_of(Headed& into, const WeightsSetting& setting) {
    Lines lines;
    read_weights(setting, into.store, into.network, [&](const std::string& line) { lines.push_back(line); });
    return lines;
  }

  TemporaryFolder folder_;
};

TEST_F(FreshWeights, AreRefusedUnlessTheyAreNamed) {
  save();
  Headed three = headed(3, 2);
  EXPECT_EQ(refused(three, {.path = file()}),
            "tensor 'logits.weight' is f32[10,4], expected f32[3,4] (and so 1 more); training makes them anew with "
            "`fresh` 'logits.*'");
  EXPECT_EQ(refused(three, {.path = file(), .fresh = "logits.bias"}),
            "tensor 'logits.weight' is f32[10,4], expected f32[3,4]; training makes it anew with `fresh` 'logits.*'");
  EXPECT_EQ(refused(three, {.path = file(), .fresh = "logit.*"}),
            "`fresh`: no parameter is called 'logit.*'; did you mean 'logits.*'?");
  EXPECT_EQ(error_of([&] { load_weights(file(), three.store, three.network); }).substr(file().size() + 2),
            "tensor 'logits.weight' is f32[10,4], expected f32[3,4] (and so 1 more)")
      << "a checkpoint is read as it is";
}

TEST_F(FreshWeights, AreThoseOfTheSeedAndTheOthersThoseOfTheFile) {
  const Lines said = {"made anew: logits.weight (the file has f32[10,4], the network f32[3,4])",
                      "made anew: logits.bias (the file has f32[10], the network f32[3])"};
  const Headed ten = headed(10, 1), other = headed(3, 2);
  save();
  for (const char* fresh : {"logits.*", "head.*", "module.head.*", "logits.weight,logits.bias", "*"}) {
    Headed three = headed(3, 2);
    EXPECT_EQ(lines_of(three, {.path = file(), .fresh = fresh}), said) << fresh;
    for (const char* name : {"body.weight", "body.bias"}) EXPECT_EQ(three.store.read(name), ten.store.read(name));
    for (const char* name : {"logits.weight", "logits.bias"}) EXPECT_EQ(three.store.read(name), other.store.read(name));
  }
  Headed same = headed(10, 2);
  EXPECT_EQ(lines_of(same, {.path = file(), .fresh = "logits.*"}), Lines{}) << "it is loaded where it fits";
  EXPECT_EQ(same.store.read("logits.weight"), ten.store.read("logits.weight"));
}

TEST_F(FreshWeights, OfAFileOfOthersMayBeAPartOfAParameter) {
  save("timm");
  SafetensorsReader reader(file());
  std::vector<TensorEntry> tensors;
  for (TensorEntry tensor : reader.tensors())
    if (tensor.name != "k.weight" && tensor.name != "head.bias") tensors.push_back(tensor);
  std::vector<std::vector<std::byte>> values;
  for (const TensorEntry& tensor : tensors) values.push_back(reader.read(tensor));
  SafetensorsWriter writer(file(), tensors);
  for (const std::vector<std::byte>& value : values) writer.write(value);
  writer.finish();
  Headed ten = headed(10, 2);
  EXPECT_EQ(refused(ten, {.path = file()}),
            "missing 'k.weight', 'head.bias'; training makes them anew with `fresh` 'body.*,logits.*'");
  const std::vector<std::byte> drawn = ten.store.read("body.weight");
  EXPECT_EQ(lines_of(ten, {.path = file(), .fresh = "body.*,head.*"}),
            (Lines{"made anew: body.weight (the file has no 'k.weight')",
                   "made anew: logits.bias (the file has no 'head.bias')"}));
  EXPECT_EQ(ten.store.read("body.weight"), drawn);
}

TEST_F(FreshWeights, TensorsThatNobodyTakesAreRefusedUnlessTheyAreIgnored) {
  save("timm");
  add({{"module.old.mask", "BOOL", "[2,3]", std::string(6, '\1')}, {"old.scale", "F8_E4M3", "[2]", "ab"}});
  Headed ten = headed(10, 2);
  EXPECT_EQ(refused(ten, {.path = file()}),
            "unexpected 'module.old.mask', 'old.scale'; `ignore` 'module.old.mask,old.scale' leaves out what is "
            "unexpected");
  EXPECT_EQ(refused(ten, {.path = file(), .ignore = "old.mask"}),
            "unexpected 'old.scale'; `ignore` 'old.scale' leaves out what is unexpected");
  EXPECT_EQ(lines_of(ten, {.path = file(), .ignore = "old.*"}), Lines{}) << "with and without the library's prefix";
  EXPECT_EQ(refused(ten, {.path = file(), .ignore = "old.*,older.*"}),
            "`ignore`: " + file() + " has no tensor called 'older.*'");
  EXPECT_EQ(refused(ten, {.path = file(), .ignore = "old.*,head.*"}),
            "`ignore` leaves out 'head.weight', 'head.bias', which the network needs; training makes them anew with "
            "`fresh` 'logits.*'");
}

TEST_F(FreshWeights, MayBeAskedForAlthoughTheFileHasThem) {
  save("timm");
  Headed ten = headed(10, 2);
  const std::vector<std::byte> drawn = ten.store.read("logits.weight");
  EXPECT_EQ(lines_of(ten, {.path = file(), .fresh = "logits.*", .ignore = "head.*"}),
            (Lines{"made anew: logits.weight (the file has no 'head.weight')",
                   "made anew: logits.bias (the file has no 'head.bias')"}));
  EXPECT_EQ(ten.store.read("logits.weight"), drawn);
}

TEST_F(FreshWeights, OfADTypeThatNobodyReadsAreRefusedByName) {
  save("timm");
  add({{"steps", "I64", "[]", std::string(8, '\0')}});
  Headed ten = headed(10, 2);
  EXPECT_EQ(lines_of(ten, {.path = file()}), Lines{}) << "passed over";
  SafetensorsReader reader(file());
  std::string text = bytes_in(file());
  const std::string name = "\"body_bias\":{";
  ASSERT_NE(text.find(name), std::string::npos);
  const std::size_t dtype = text.find("\"F32\"", text.find(name));
  folder_.write("w.safetensors", text.replace(dtype, 5, "\"U32\""));
  const std::string ignored = "`ignore` 'body_bias' leaves out what is of another dtype";
  EXPECT_EQ(refused(ten, {.path = file()}),
            "tensor 'body_bias' is U32[4], expected f32[4]; training makes it anew with `fresh` 'body.*'; " + ignored);
  EXPECT_EQ(refused(ten, {.path = file(), .fresh = "body.*"}),
            "tensor 'body_bias' is U32[4], expected f32[4]; " + ignored);
  EXPECT_EQ(lines_of(ten, {.path = file(), .fresh = "body.*", .ignore = "body_bias"}),
            Lines{"made anew: body.bias (the file has no 'body_bias')"});
  add({{"old.scale", "F8_E4M3", "[2]", "ab"}});
  EXPECT_PRED2(says, refused(ten, {.path = file(), .fresh = "body.*"}),
               "`ignore` 'body_bias,old.scale' leaves out what is unexpected or of another dtype");
}

TEST_F(FreshWeights, ConversionsAreSaid) {
  save("", DType::bf16);
  Headed ten = headed(10, 2);
  EXPECT_EQ(lines_of(ten, {.path = file()}), Lines{"note: weights are bf16 in " + file() + "; they become f32"});
  save("timm");
  EXPECT_EQ(lines_of(ten, {.path = file()}), Lines{});
}

TEST_F(FreshWeights, AreTheSameOnRanksOfAnyStage) {
  const auto begun = [&](std::shared_ptr<Peers> peers, int zero, const std::string& to) {
    SessionSetting setting{.device = {.threads = 1}, .peers = std::move(peers)};
    setting.program.network = {.model = folder_.text() + "/headed.json", .batch = 8, .seed = 2};
    setting.program.network.sets = {{"classes", "3"}};
    setting.program.shards = {.parts = 2, .zero = zero};
    setting.program.evaluated = false;
    const bool leads = !setting.peers || setting.peers->rank().number == 0;
    Session session(setting);
    session.fill_from({}, {.path = file(), .fresh = "logits.*"});
    save_weights(leads ? to : "", session.store(), session.network());
  };
  save();
  begun(nullptr, 0, file() + ".one");
  for (const int zero : {0, 1, 3}) {
    EmulatedWorld(2).run([&](const std::shared_ptr<Peers>& peers) { begun(peers, zero, file() + ".two"); });
    EXPECT_EQ(bytes_in(file() + ".two"), bytes_in(file() + ".one")) << zero;
  }
}

TEST_F(FreshWeights, OfACheckpointInSharesAreMadeAnewToo) {
  const std::string run = folder_.text() + "/run";
  train_to(1, sharing("resnet20", 4, 2), run, 2, 0, true);
  Headed three{.network = load_network("resnet20", {}, {{"n", "1"}, {"classes", "3"}})};
  three.store.add(three.network.program);
  three.store.initialize(three.network.program, three.network.params, 2);
  const std::vector<std::byte> drawn = three.store.read("logits.weight");
  EXPECT_EQ(lines_of(three, {.path = run, .fresh = "logits.*"}),
            (Lines{"made anew: logits.weight (the file has f32[10,64], the network f32[3,64])",
                   "made anew: logits.bias (the file has f32[10], the network f32[3])"}));
  EXPECT_EQ(three.store.read("logits.weight"), drawn);
  const std::string refusal = error_of([&] { read_weights({.path = run}, three.store, three.network); });
  EXPECT_PRED2(says, refusal, "training makes them anew with `fresh` 'logits.*'");
}

/// The small network's run of four classes is gone on from with three.
class NewHead : public RunTest {
 protected:
  Ended train(const std::vector<std::string>& more) const {
    std::vector<std::string> all = {
        "--model", path("few.json"), "--data", "shapes:train=32,test=8", "--eval-every", "0", "--threads",
        "1",       "--steps",        "1"};
    all.insert(all.end(), more.begin(), more.end());
    return run_train(all);
  }
  void SetUp() override {
    RunTest::SetUp();
    std::string few = kSmallNetwork;
    const std::string out = R"("out": 4, "name": "logits")";
    std::ofstream(path("few.json")) << few.replace(few.find(out), out.size(), R"("out": 3, "name": "logits")");
    ASSERT_EQ(run_train(small({"--steps", "2", "--save", path("four")})).code, 0);
  }
};

TEST_F(NewHead, IsPrintedOnceAndItsRunIsReadStrictly) {
  const Ended without = train({"--weights", path("four")});
  EXPECT_EQ(without.code, 4);
  EXPECT_NE(without.err.find("expected f32[3,128] (and so 1 more); training makes them anew with --fresh 'logits.*'"),
            std::string::npos)
      << without.err;
  const Ended with = train({"--weights", path("four"), "--fresh", "logits.*", "--save", path("three")});
  ASSERT_EQ(with.code, 0) << with.err;
  const std::string line = "made anew: logits.weight (the file has f32[4,128], the network f32[3,128])";
  const std::size_t said = with.err.find(line);
  ASSERT_NE(said, std::string::npos) << with.err;
  EXPECT_EQ(with.err.find(line, said + 1), std::string::npos);
  EXPECT_NE(with.err.find("note: labels are "), std::string::npos) << "its classes are its own: " << with.err;
  const Ended resumed = run_train({"--resume", path("three"), "--steps", "2", "--threads", "1"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(resumed.err.find("made anew"), std::string::npos);
  const Ended eval = run_train({"eval", "--weights", path("three"), "--threads", "1"});
  EXPECT_EQ(eval.code, 0) << eval.err;
}

TEST_F(NewHead, GoesWithWeightsAlone) {
  const Ended alone = train({"--fresh", "logits.*"});
  EXPECT_EQ(alone.code, 2);
  EXPECT_NE(alone.err.find("--fresh requires --weights"), std::string::npos) << alone.err;
  EXPECT_EQ(run_train({"--resume", path("four"), "--fresh", "logits.*"}).code, 2);
}

TEST_F(NewHead, ThatMeansNothingIsRefusedBeforeAnythingIsPlanned) {
  for (const char* const fresh : {"logit.*", ","}) {
    const Ended ended = train({"--weights", path("four"), "--fresh", fresh});
    EXPECT_EQ(ended.code, 2);
    EXPECT_EQ(ended.err.rfind("train: error: --fresh: ", 0), 0U) << ended.err;
  }
}

}  // namespace
}  // namespace lethe::testing
