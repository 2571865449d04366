// A session is all that a program needs to train a network.
#include "train/session/session.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <thread>

#include "framework/builder/builder.h"
#include "framework/error.h"
#include "tests/train/data_samples.h"

namespace lethe::testing {
namespace {

/// LeNet on a device of one thread, or a perceptron under another memory setting on one of two.
SessionSetting setting_of(int which) {
  SessionSetting setting{.data = {.spec = "shapes:train=160,test=40"}, .device = {.threads = which + 1}};
  setting.program.network = {.model = which == 0 ? "lenet" : "mlp", .batch = 16, .seed = 3};
  if (which == 1) setting.program.memory = memory_setting("level=1,release");
  return setting;
}

RunSetting steps(std::int64_t count) { return {.lr = 0.02, .steps = count, .log_every = 1}; }

std::map<std::string, std::vector<std::byte>> trained(Session& session) {
  std::map<std::string, std::vector<std::byte>> values;
  for (const std::string& name : session.store().names()) values[name] = session.store().read(name);
  return values;
}

/// Hears a run.
struct Ear final : Listener {
  void record(const Record& measured) override { records.push_back(measured); }
  void evaluated(std::int64_t step, std::int64_t, const Scores& scores) override { accuracy[step] = scores.accuracy(); }
  std::vector<Record> records;
  std::map<std::int64_t, double> accuracy;
};

TEST(Session, TakesTheBytesThatItsPlanStatesAndLearns) {
  Session session(setting_of(0));
  const std::int64_t bytes = session.plan().bytes.total();
  Ear ear;
  const Record last = session.train(steps(60), ear);
  EXPECT_EQ(session.device().peak(), bytes);
  EXPECT_EQ(last.step, 60);
  EXPECT_EQ(last.mem_peak, bytes);
  EXPECT_LT(last.loss, 0.8 * ear.records.front().loss);
  EXPECT_EQ(ear.accuracy.size(), 6U) << "after each epoch of 10 steps";
  EXPECT_EQ(ear.accuracy.at(60), session.evaluator()->run().accuracy());
}

TEST(Session, GoesOnWhereItStands) {
  Session whole(setting_of(0)), parts(setting_of(0));
  whole.train(steps(14));
  parts.train(steps(6));
  EXPECT_EQ(parts.state().step, 6);
  EXPECT_EQ(parts.train(steps(14)).step, 14);
  EXPECT_TRUE(trained(whole) == trained(parts));
}

TEST(Session, TwoNetworksOnTwoDevicesInTwoThreadsTrainAsEachAlone) {
  std::vector<std::map<std::string, std::vector<std::byte>>> alone(2), beside(2);
  std::vector<std::int64_t> taken(2), planned(2);
  const auto run = [&](int which, auto& into) {
    Session session(setting_of(which));
    planned[static_cast<std::size_t>(which)] = session.plan().bytes.total();
    session.train(steps(20));
    into[static_cast<std::size_t>(which)] = trained(session);
    taken[static_cast<std::size_t>(which)] = session.device().peak();
  };
  for (const int which : {0, 1}) run(which, alone);
  std::thread first([&] { run(0, beside); }), second([&] { run(1, beside); });
  first.join();
  second.join();
  EXPECT_TRUE(beside == alone);
  EXPECT_EQ(taken, planned);
}

/// As many ones as a sample has numbers; all of one class.
class Ones final : public Samples {
 public:
  explicit Ones(std::int64_t numbers) : bytes_(numbers * 4) {}
  const std::string& name() const override { return name_; }
  std::int64_t size(Split) const override { return 64; }
  std::int64_t sample_bytes(DType) const override { return bytes_; }
  std::int64_t labels() const override { return 1; }
  std::vector<std::string> classes() const override { return {}; }
  std::unique_ptr<SampleReader> reader(const ReadOptions&) const override { return std::make_unique<Reader>(bytes_); }

 private:
  struct Reader final : SampleReader {
    explicit Reader(std::int64_t bytes) : bytes(bytes) {}
    void read(Split, std::int64_t, std::int64_t, std::byte* sample, std::int32_t* label) override {
      std::fill_n(reinterpret_cast<float*>(sample), bytes / 4, 1.0f);
      *label = 1;
    }
    std::int64_t bytes;
  };
  std::int64_t bytes_;
  std::string name_ = "ones";
};

Network three_numbers(const BuildOptions& options) {
  Builder net(options);
  const VarId x = net.input("x", {3});
  net.loss("cross_entropy", net.layer("fc", x, {{"out", 2}}), net.input("label", {}, DType::i32));
  return net.finish();
}

TEST(Session, TrainsANetworkOfOnesOwnOnSamplesOfOnesOwn) {
  Session session({.program = {.network = {.build = three_numbers, .batch = 16}},
                   .data = {.samples = std::make_shared<Ones>(3)},
                   .device = {.threads = 1}});
  EXPECT_LT(session.train({.lr = 0.5, .steps = 40}).loss, 0.1);
  EXPECT_EQ(session.evaluator()->run().accuracy(), 1);
  EXPECT_EQ(session.device().peak(), session.plan().bytes.total());
}

TEST(Session, RefusesSamplesOfAnotherMeaningThanIsKnown) {
  Session session({.program = {.network = {.build = three_numbers, .batch = 16}},
                   .data = {.samples = std::make_shared<Ones>(3), .known = {.classes = {"no", "yes"}}}});
  EXPECT_PRED2(says, error_from([&] { session.data(); }, Exit::Data),
               "ones: has no class where the run has class 'no'");
}

TEST(Session, SaysThatSamplesDoNotFitTheNetwork) {
  Session session(
      {.program = {.network = {.build = three_numbers, .batch = 16}}, .data = {.samples = std::make_shared<Ones>(4)}});
  EXPECT_PRED2(says, error_from([&] { session.data(); }, Exit::Data),
               "takes samples of 12 bytes with labels: 1; 'ones' has samples of 16 bytes with labels: 1");
}

/// Two numbers and a symbol, for three inputs, and a target of two numbers: their sum, and the symbol.
class SumAndSymbol final : public Samples {
 public:
  explicit SumAndSymbol(std::int64_t test = 10) : test_(test) {}
  const std::string& name() const override { return name_; }
  std::int64_t size(Split split) const override { return split == Split::Train ? 64 : test_; }
  std::int64_t sample_bytes(DType) const override { return 20; }
  std::int64_t labels() const override { return 0; }
  std::vector<SampleInput> inputs(DType) const override { return {{"symbol", 4}, {"x", 8}, {"y", 8}}; }
  std::vector<std::string> classes() const override { return {}; }
  std::unique_ptr<SampleReader> reader(const ReadOptions&) const override { return std::make_unique<Reader>(); }

 private:
  struct Reader final : SampleReader {
    void read(Split, std::int64_t index, std::int64_t, std::byte* sample, std::int32_t*) override {
      const auto symbol = static_cast<std::int32_t>(index % 3);
      const auto of = [&](std::int64_t n) { return static_cast<float>(n % 7) / 4 - 1; };
      const float numbers[] = {of(index), of(3 * index + 1), of(index) + of(3 * index + 1), static_cast<float>(symbol)};
      std::memcpy(sample, &symbol, 4);
      std::memcpy(sample + 4, numbers, 16);
    }
  };
  std::int64_t test_;
  std::string name_ = "sums";
};

Network sum_and_symbol(const BuildOptions& options) {
  Builder net(options);
  const VarId symbol = net.input("symbol", {}, DType::i32), x = net.input("x", {2});
  const VarId known = net.layer("embedding", symbol, {{"vocab", 3}, {"out", 2}});
  net.loss("mse", net.layer("add", {net.layer("fc", x, {{"out", 2}}), known}), net.input("y", {2}));
  return net.finish();
}

TEST(Session, TrainsOnSeveralInputsAndATargetOfNumbers) {
  const auto setting = [](std::int64_t micro_batch) {
    SessionSetting of{.program = {.network = {.build = sum_and_symbol, .batch = 16}},
                      .data = {.samples = std::make_shared<SumAndSymbol>()},
                      .device = {.threads = 1}};
    of.program.micro_batch = micro_batch;
    return of;
  };
  Session session(setting(0)), in_parts(setting(4));
  Ear ear;
  const Record last = session.train({.lr = 0.3, .steps = 120, .log_every = 1}, ear);
  EXPECT_LT(last.loss, 1e-3);
  EXPECT_FALSE(last.accuracy) << "there are no labels";
  EXPECT_EQ(session.device().peak(), session.plan().bytes.total());
  const Scores scores = session.evaluator()->run();
  EXPECT_EQ(scores.samples, 10) << "which no batch divides";
  EXPECT_LT(scores.loss, 1e-3);
  EXPECT_EQ(session.state().best_score, scores.loss) << "the last evaluation is the best";
  EXPECT_LT(in_parts.train({.lr = 0.3, .steps = 120}).loss, 1e-3);
}

TEST(Session, SaysWhichInputsSamplesLack) {
  const auto other = [](const BuildOptions& options) {
    Builder net(options);
    const VarId x = net.input("x", {2});
    net.loss("mse", net.layer("fc", x, {{"out", 3}}), net.input("z", {3}));
    return net.finish();
  };
  Session session(
      {.program = {.network = {.build = other, .batch = 16}}, .data = {.samples = std::make_shared<SumAndSymbol>()}});
  EXPECT_PRED2(says, error_from([&] { session.data(); }),
               "takes x of 8 bytes, z of 12 bytes and labels: 0; 'sums' gives symbol of 4 bytes, x of 8 bytes, y of 8 "
               "bytes and labels: 0");
}

TEST(Session, NamesTheNetworkOfOnesOwnThatDataCannotFeed) {
  const SessionSetting setting{.program = {.network = {.build = sum_and_symbol, .batch = 16}},
                               .device = {.threads = 1}};
  Session without(setting);
  EXPECT_EQ(error_from([&] { without.data(); }, Exit::Usage),
            "data 'numbers': is made for a network that takes floats and compares with floats; what the network takes "
            "stands in csv:FILE or npy:NAME=FILE");
  SessionSetting with_images = setting;
  with_images.data.spec = "shapes";
  Session images(with_images);
  EXPECT_PRED2(says, error_from([&] { images.data(); }, Exit::Usage),
               "data 'shapes': gives images, the network takes numbers by name (known: csv:FILE,target=NAME");
}

TEST(Session, SaysWhatIsWrongWithASetting) {
  EXPECT_PRED2(says, error_from([] { Session({.program = {.network = {.model = "lenett"}}}); }, Exit::Usage), "lenet");
  EXPECT_PRED2(says, error_from([] { memory_setting("level=9"); }, Exit::Usage), "unknown setting 'level=9'");
  EXPECT_PRED2(says, error_from([] { memory_setting("optnet=9"); }, Exit::Usage), "neither inference nor training");
}

TEST(MemorySetting, KeepsPinsWhenItIsAskedForAnother) {
  MemorySetting setting;
  setting.levels.pins.skip_vars = {"a"};
  setting.levels.print_log = true;
  for (const char* text : {"level=1", "optnet=training", "none"}) setting = memory_setting(text, setting);
  EXPECT_EQ(setting.text, "none");
  EXPECT_EQ(setting.guest, nullptr);
  EXPECT_EQ(setting.levels.level, Level::None);
  EXPECT_EQ(setting.levels.pins.skip_vars, std::vector<std::string>{"a"});
  EXPECT_TRUE(setting.levels.print_log);
}

}  // namespace
}  // namespace lethe::testing
