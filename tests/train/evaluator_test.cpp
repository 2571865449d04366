#include "train/session/evaluator.h"

#include <gtest/gtest.h>

#include <cmath>

#include "framework/language/op_def.h"
#include "kernels/cpu/device.h"
#include "tests/train/data_samples.h"
#include "train/data/sequences.h"

namespace lethe::testing {
namespace {

constexpr std::int64_t kBatch = 4, kLength = 3, kSymbols = 5;

/// Says of each symbol what the table's row says of it.
Network symbol_by_symbol(std::optional<std::int64_t> ignore = {}) {
  Network net;
  net.name = "symbols";
  Program& p = net.program;
  const VarId text = add_var(p, {.name = "text", .shape = {kBatch, kLength}, .dtype = DType::i32, .kind = Kind::Input});
  const VarId next = add_var(p, {.name = "next", .shape = {kBatch, kLength}, .dtype = DType::i32, .kind = Kind::Input});
  const VarId table = add_var(p, {.name = "table", .shape = {kSymbols, kSymbols}, .kind = Kind::Param});
  const auto append = [&](const std::string& type, std::vector<VarId> in, Attrs attrs = {}) {
    return append_op(p, 0, Role::Forward, type, std::move(in), std::move(attrs), type).front();
  };
  const Attrs rows{{"shape", Ints{kBatch * kLength}}};
  net.inputs = {text, next};
  net.params = {{.var = table}};
  net.prediction = append("embedding", {append("reshape", {text}, rows), table});
  net.target = append("reshape", {next}, rows);
  net.ignored = ignore;
  const VarId labels =
      ignore ? append("ignore_label", {net.target}, {{"ignore", *ignore}, {"dtype", "f32"}}) : net.target;
  net.sample_loss = append("softmax_cross_entropy", {net.prediction, labels});
  net.correct = append("accuracy", {net.prediction, labels}, {{"k", 1}});
  return net;
}

/// Right by a wide margin of all symbols but 0.
std::vector<float> right_but_for_zero() {
  std::vector<float> table(kSymbols * kSymbols, 0);
  for (std::int64_t s = 0; s < kSymbols; ++s)
    table[static_cast<std::size_t>(s * kSymbols + std::max<std::int64_t>(s, 1))] = 5;
  return table;
}

/// Six samples, a whole batch and a half, and how many of their symbols are 0.
struct SixSamples {
  std::unique_ptr<Sequences> data = open_sequences("copy:test=6", kLength, kSymbols, 0);
  std::int64_t labels = 6 * kLength, zeros = 0;
  SixSamples() {
    for (std::int64_t i = 0; i < 6; ++i) {
      std::int32_t symbols[kLength], next[kLength];
      data->read(Split::Test, i, symbols, next);
      zeros += std::count(symbols, symbols + kLength, 0);
    }
  }
};

Scores scores_of(const Network& net, const Samples& data, ClassCounts* counts = nullptr) {
  const MemorySetting memory{.keeps_prediction = counts != nullptr};
  const auto device = open_cpu(1);
  Prepared prepared(*device);
  const Planned planned = plan_memory(net.program, prepared, evaluation_memopt(memory, net));
  Store store(*device);
  Evaluator evaluator(net, planned, prepared, store, data);
  const std::vector<float> table = right_but_for_zero();
  store.write("table", table.data(), static_cast<std::int64_t>(table.size() * sizeof(float)));
  return evaluator.run(counts);
}

const double kRight = std::log(std::exp(5.0) + kSymbols - 1) - 5, kWrong = kRight + 5;

TEST(Evaluator, CountsEveryLabelOfASequenceAndNoneOfThePadding) {
  const SixSamples six;
  const Scores scores = scores_of(symbol_by_symbol(), *six.data);
  EXPECT_EQ(scores.samples, six.labels);
  EXPECT_EQ(scores.correct, six.labels - six.zeros);
  const double share = static_cast<double>(six.zeros) / static_cast<double>(six.labels);
  EXPECT_NEAR(scores.loss, share * kWrong + (1 - share) * kRight, 1e-5);
}

TEST(Evaluator, DoesNotCountLabelsThatTheLossIgnores) {
  const SixSamples six;
  ASSERT_GT(six.zeros, 0);
  const Scores scores = scores_of(symbol_by_symbol(0), *six.data);
  EXPECT_EQ(scores.samples, six.labels - six.zeros);
  EXPECT_EQ(scores.correct, six.labels - six.zeros);
  EXPECT_NEAR(scores.loss, kRight, 1e-5);
}

TEST(Evaluator, CountsByClassWhatCounts) {
  const SixSamples six;
  for (const std::optional<std::int64_t> ignored : {std::optional<std::int64_t>(), {0}}) {
    ClassCounts counts(kSymbols, 1, true);
    const Scores scores = scores_of(symbol_by_symbol(ignored), *six.data, &counts);
    EXPECT_EQ(counts.found(), scores.correct);
    EXPECT_EQ(counts.taken_for(0, 1), ignored ? 0 : six.zeros) << "the table takes 0 for 1";
    std::int64_t all = 0, right = 0;
    for (std::int64_t s = 0; s < kSymbols; ++s) all += counts.samples(s), right += counts.taken_for(s, s);
    EXPECT_EQ(all, scores.samples);
    EXPECT_EQ(right, scores.correct);
  }
}

TEST(FedInputs, LabelsOfASampleMustStandSideBySide) {
  Network net = symbol_by_symbol();
  EXPECT_EQ(fed_inputs(net).rows, kLength);
  EXPECT_EQ(fed_inputs(net).labels, net.inputs[1]);
  const VarId turned =
      append_op(net.program, 0, Role::Forward, "transpose", {net.inputs[1]}, {{"perm", Ints{1, 0}}}, "turned").front();
  net.target = append_op(net.program, 0, Role::Forward, "reshape", {turned}, {{"shape", Ints{-1}}}, "rows").front();
  EXPECT_PRED2(says, error_from([&] { fed_inputs(net); }, Exit::Usage), "the loss reads 'turned.y' as labels");
}

}  // namespace
}  // namespace lethe::testing
