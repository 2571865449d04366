#include "framework/builder/weight_names.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace lethe::testing {
namespace {

TEST(WeightNamesTest, FieldsAreWholeNumbers) {
  EXPECT_EQ(read_fields("h.{i}.ln_{k}.weight", "h.11.ln_2.weight"), (Fields{{"i", "11"}, {"k", "2"}}));
  EXPECT_EQ(read_fields("plain", "plain"), Fields{});
  for (const char* other : {"h.x.bias", "h..bias", "h.1.bia", "h.1.bias2", "g.1.bias", ""})
    EXPECT_FALSE(read_fields("h.{i}.bias", other)) << other;
}

TEST(WeightNamesTest, AFieldThatStandsTwiceIsTheSameTwice) {
  EXPECT_TRUE(read_fields("{i}/{i}", "3/3"));
  EXPECT_FALSE(read_fields("{i}/{i}", "3/4"));
}

TEST(WeightNamesTest, FieldsAreFilledIn) {
  EXPECT_EQ(with_fields("h.{i}.ln_{k}.weight", {{"i", "11"}, {"k", "2"}}), "h.11.ln_2.weight");
  EXPECT_TRUE(fails_with("nothing says what {j} is", [] { with_fields("h.{j}", {{"i", "1"}}); }));
  EXPECT_TRUE(fails_with("opens a field and does not close it", [] { with_fields("h.{j", {{"j", "1"}}); }));
}

}  // namespace
}  // namespace lethe::testing
