#include <gtest/gtest.h>

#include <algorithm>

#include "framework/builder/builder.h"
#include "framework/random.h"
#include "tests/support/expect_error.h"
#include "tests/support/run_op.h"

namespace lethe::testing {
namespace {

Tensor dropped(double p, std::int64_t seed, std::int64_t key, double step, std::int64_t n = 1003) {
  return run_op("dropout", {{{n}, std::vector<double>(static_cast<std::size_t>(n), 1.0)}, {{}, {step}, DType::i64}},
                {{"p", p}, {"seed", seed}, {"key", key}});
}

TEST(Dropout, KeepsWhatTheGeneratorSays) {
  const Tensor y = dropped(0.25, 7, 11, 3);
  for (std::size_t i = 0; i < y.values.size(); ++i)
    ASSERT_EQ(y.values[i], uniform_at(stream_key(7, 11), 3, i) >= 0.25f ? 1 / 0.75 : 0) << i;
}

TEST(Dropout, DropsTheShareThatIsAskedFor) {
  const Tensor y = dropped(0.3, 1, 2, 0, 100000);
  const auto zeros = static_cast<double>(std::count(y.values.begin(), y.values.end(), 0.0));
  EXPECT_NEAR(zeros / 100000, 0.3, 0.006);  // four standard deviations
}

TEST(Dropout, SeedKeyAndStepEachChangeIt) {
  const Tensor y = dropped(0.5, 1, 2, 3);
  EXPECT_EQ(y, dropped(0.5, 1, 2, 3));
  EXPECT_NE(y, dropped(0.5, 2, 2, 3));
  EXPECT_NE(y, dropped(0.5, 1, 3, 3));
  EXPECT_NE(y, dropped(0.5, 1, 2, 4));
}

TEST(Dropout, LayerIsItsInputOutsideTraining) {
  Builder trained({.batch = 2}), evaluated({.batch = 2, .training = false});
  const VarId x = trained.input("x", {3}), same = evaluated.input("x", {3});
  EXPECT_NE(trained.layer("dropout", x, {{"p", 0.5}}), x);
  EXPECT_EQ(trained.layer("dropout", x, {{"p", 0.0}}), x);
  EXPECT_EQ(evaluated.layer("dropout", same, {{"p", 0.5}}), same);
}

TEST(DropPath, KeepsWholeSamplesWhereTheyStandInTheBatch) {
  const auto dropped = [](const Shape& shape, std::int64_t first) {
    Attrs attrs{{"p", 0.25}, {"seed", 7}, {"key", 11}};
    if (first > 0) attrs.set("first_element", first);
    const std::vector<double> ones(static_cast<std::size_t>(elements(shape)), 1.0);
    return run_op("drop_path", {{shape, ones}, {{}, {3}, DType::i64}}, attrs).values;
  };
  for (const Shape& shape : {Shape{40, 2, 4}, Shape{40, 7}, Shape{40, 1100}}) {
    const std::int64_t size = elements(shape) / 40;
    const std::vector<double> y = dropped(shape, 0);
    for (std::int64_t i = 0; i < elements(shape); ++i)
      ASSERT_EQ(y[i], uniform_at(stream_key(7, 11), 3, i / size) >= 0.25f ? 1 / 0.75 : 0) << i;
    Shape half = shape;
    half[0] = 20;
    EXPECT_EQ(dropped(half, 20 * size), (std::vector<double>{y.begin() + 20 * size, y.end()}));
  }
}

TEST(Dropout, RefusesToDropAll) {
  EXPECT_TRUE(fails_with("dropout: p is 1, expected at least 0 and below 1", [] { dropped(1, 1, 1, 1); }));
}

}  // namespace
}  // namespace lethe::testing
