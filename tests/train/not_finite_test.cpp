// Values in files of weights and states that are no finite numbers, and losses that become none.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"
#include "tests/train/run_samples.h"
#include "train/session/safetensors.h"
#include "train/session/weights.h"

namespace lethe::testing {
namespace {

/// Puts a value in the place of one of a tensor's in a file.
template <class T>
void put_value(const std::string& file, const std::string& name, std::int64_t at, T value) {
  const SafetensorsReader reader(file);
  const TensorEntry* const tensor = reader.find(name);
  ASSERT_TRUE(tensor) << name;
  const TensorEntry& last = reader.tensors().back();
  const std::int64_t data = std::ssize(bytes_in(file)) - (last.begin + last.bytes());
  std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out);
  out.seekp(data + tensor->begin + at * std::int64_t{sizeof value});
  out.write(reinterpret_cast<const char*>(&value), sizeof value);
}

class NotFinite : public ::testing::Test {
 protected:
  std::string file() const { return folder_.text() + "/w.safetensors"; }
  std::string refused(void (*load)(const std::string&, Store&, const Network&)) {
    return error_from([&] { load(file(), run_.store, run_.network); });
  }

  TemporaryFolder folder_;
  SmallRun run_;
};

TEST_F(NotFinite, WeightsAreRefusedByTheNameOfTheirTensor) {
  for (const auto& [value, shown] : {std::pair{std::nanf(""), "nan"}, {HUGE_VALF, "inf"}, {-HUGE_VALF, "-inf"}}) {
    run_.fill(1);
    save_weights(file(), run_.store, run_.network);
    load_weights(file(), run_.store, run_.network);
    put_value(file(), "conv.weight", 7, value);
    EXPECT_EQ(refused(load_weights), message(file(), ": tensor 'conv.weight' has ", shown, " at element 7"));
  }
}

TEST_F(NotFinite, WeightsThatTheirDtypeHereDoesNotHoldAreRefused) {
  {
    SafetensorsWriter writer(file(), {{.name = "conv.weight", .shape = {2, 2, 1, 3}},
                                      {.name = "bn.running_mean", .shape = {2}},
                                      {.name = "fc.weight", .shape = {2, 12}},
                                      {.name = "fc.bias", .dtype = DType::f64, .shape = {2}}});
    for (const std::size_t bytes : {48U, 8U, 96U, 16U}) writer.write(std::vector<std::byte>(bytes));
    writer.finish();
  }
  load_weights(file(), run_.store, run_.network);
  put_value(file(), "fc.bias", 1, -1e300);
  EXPECT_EQ(refused(load_weights), file() + ": tensor 'fc.bias': -1e+300 is too large for f32");
  put_value(file(), "fc.bias", 1, std::nan(""));
  EXPECT_EQ(refused(load_weights), file() + ": tensor 'fc.bias' has nan at element 1");
}

TEST_F(NotFinite, StatesMayBeInfiniteButNumbers) {
  run_.fill(1);
  save_optimizer(file(), run_.store, run_.network);
  put_value(file(), "fc.bias@momentum", 0, HUGE_VALF);  // as a sum of squares may become
  load_optimizer(file(), run_.store, run_.network);
  put_value(file(), "fc.bias@momentum", 0, std::nanf(""));
  const auto load = [](const std::string& from, Store& store, const Network& network) {
    load_optimizer(from, store, network);
  };
  EXPECT_EQ(refused(load), file() + ": tensor 'fc.bias@momentum' has nan at element 0");
}

class NotFiniteRun : public RunTest {
 protected:
  void SetUp() override {
    RunTest::SetUp();
    const std::vector<std::string> args = {"export", "--model", path("small.json"), "--output", file()};
    ASSERT_EQ(run_train(args).code, 0);
  }
  std::string file() const { return path("w.safetensors"); }
  std::vector<std::string> with_weights(const std::string& command) const {
    std::vector<std::string> args = small({"--weights", file()});
    if (!command.empty()) args.insert(args.begin(), command);
    return args;
  }
};

TEST_F(NotFiniteRun, AFileOfWeightsEndsEachCommandThatReadsIt) {
  put_value(file(), "conv1.weight", 3, std::nanf(""));
  std::vector<std::string> train = with_weights(""), eval = with_weights("eval"), again = with_weights("export");
  train.push_back("--quiet");
  again.erase(std::ranges::find(again, "--data"), again.end());
  again.insert(again.end(), {"--output", path("again.safetensors")});
  for (const auto& args : {train, eval, again}) {
    const Ended ended = run_train(args);
    EXPECT_EQ(ended.code, 4) << args[0];
    EXPECT_EQ(ended.err, message("train: error: ", file(), ": tensor 'conv1.weight' has nan at element 3\n"));
    EXPECT_EQ(ended.out.find("loss"), std::string::npos) << ended.out;
  }
  EXPECT_FALSE(std::filesystem::exists(path("again.safetensors")));
}

TEST_F(NotFiniteRun, ALossThatBecomesNoNumberIsShownAndEndsInItsCode) {
  put_value(file(), "logits.weight", 0, std::numeric_limits<float>::max());
  put_value(file(), "logits.weight", 1, std::numeric_limits<float>::max());
  const Ended ended = run_train(with_weights("eval"));
  EXPECT_EQ(ended.code, 5) << ended.out << ended.err;
  EXPECT_PRED2(says, ended.out, "eval loss ");
  EXPECT_PRED2(says, ended.err, "although all weights are finite");
}

}  // namespace
}  // namespace lethe::testing
