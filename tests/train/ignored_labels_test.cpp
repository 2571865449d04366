// The loss that training records, of a network that does not count all labels.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/train/data_samples.h"
#include "train/session/session.h"

namespace lethe::testing {
namespace {

/// Each sample is three numbers of its own, with the label that is given for it.
class FedLabels final : public Samples {
 public:
  explicit FedLabels(std::vector<std::int32_t> labels) : labels_(std::move(labels)) {}
  const std::string& name() const override { return name_; }
  std::int64_t size(Split) const override { return std::ssize(labels_); }
  std::int64_t sample_bytes(DType) const override { return 3 * sizeof(float); }
  std::int64_t labels() const override { return 1; }
  std::vector<std::string> classes() const override { return {}; }
  std::unique_ptr<SampleReader> reader(const ReadOptions&) const override { return std::make_unique<Reader>(labels_); }

 private:
  struct Reader final : SampleReader {
    explicit Reader(const std::vector<std::int32_t>& all) : all(all) {}
    void read(Split, std::int64_t index, std::int64_t, std::byte* sample, std::int32_t* label) override {
      for (int i = 0; i < 3; ++i) reinterpret_cast<float*>(sample)[i] = 0.3F * static_cast<float>(index + i);
      *label = all[static_cast<std::size_t>(index)];
    }
    const std::vector<std::int32_t>& all;
  };
  std::vector<std::int32_t> labels_;
  std::string name_ = "labelled";
};

Network ignoring_zero(const BuildOptions& options) {
  Builder net(options);
  const VarId x = net.input("x", {3});
  net.loss("cross_entropy", net.layer("fc", x, {{"out", 3}}), net.input("label", {}, DType::i32), {.ignore = 0});
  return net.finish();
}

struct IgnoringLosses : Listener {
  void record(const Record& measured) override {
    if (measured.split == "train") all.push_back(measured.loss);
  }
  std::vector<double> all;
};

/// The losses that one epoch records, each so many steps, with weights that stay as they are; and that of the
/// evaluation.
std::pair<std::vector<double>, double> losses_of(std::vector<std::int32_t> labels, std::int64_t batch, int log_every,
                                                 std::int64_t shards = 1) {
  SessionSetting setting{.device = {.threads = 1}};
  const auto count = std::ssize(labels);
  setting.data.samples = std::make_shared<FedLabels>(std::move(labels));
  setting.program.network = {.build = ignoring_zero, .batch = batch, .seed = 1};
  setting.program.shards.parts = shards;
  Session session(setting);
  IgnoringLosses losses;
  session.train({.lr = 1e-30, .steps = count / batch, .log_every = log_every}, losses);
  return {losses.all, session.evaluator()->run().loss};
}

TEST(IgnoredLabels, AStepWithoutACountedLabelDoesNotHalveTheLoss) {
  const std::vector<double> each = losses_of({0, 1}, 1, 1).first;
  ASSERT_EQ(each.size(), 2U);
  EXPECT_EQ(std::ranges::min(each), 0);
  EXPECT_EQ(losses_of({0, 1}, 1, 2).first, std::vector<double>{std::ranges::max(each)});
}

TEST(IgnoredLabels, TheRecordedLossIsTheMeanOverLabelsAsInAnEvaluation) {
  for (const std::int64_t shards : {1, 2}) {
    const auto [recorded, evaluated] = losses_of({1, 2, 0, 2, 0, 0, 0, 1, 2, 2, 1, 0}, 2, 6, shards);
    ASSERT_EQ(recorded.size(), 1U);
    EXPECT_GT(evaluated, 0.1);
    EXPECT_NEAR(recorded[0], evaluated, 1e-6) << shards;
  }
}

TEST(IgnoredLabels, WithoutAnyThatCountsTheLossIsNothing) {
  EXPECT_EQ(losses_of({0, 0, 0, 0}, 2, 2).first, std::vector<double>{0});
}

}  // namespace
}  // namespace lethe::testing
