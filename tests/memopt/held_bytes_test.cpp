#include "memopt/analysis/held_bytes.h"

#include <gtest/gtest.h>

namespace lethe::testing {
namespace {

/// Rows of `row` bytes that begin at `begin`, `pitch` apart.
Extent rows(std::int64_t begin, std::int64_t count, std::int64_t pitch, std::int64_t row) {
  return {0, begin, begin + (count - 1) * pitch + row, pitch, begin, row};
}

TEST(HeldBytes, RowsBesideEachOtherDoNotMeet) {
  const Extent left = rows(100, 3, 10, 4), right = rows(104, 3, 10, 6);
  EXPECT_FALSE(left.meets(right));
  EXPECT_FALSE(right.meets(left));
  EXPECT_TRUE(left.meets(rows(103, 3, 10, 2)));
  EXPECT_TRUE(left.meets(rows(108, 3, 10, 3))) << "into the next row";
  EXPECT_FALSE(left.meets(rows(130, 3, 10, 4))) << "after it";
  EXPECT_TRUE(left.meets({0, 105, 106})) << "without rows nobody knows of gaps";
  EXPECT_TRUE(left.meets(rows(104, 3, 5, 1))) << "nor of other rows";
}

TEST(HeldBytes, APartIsLostToWhatIsWrittenOverItAlone) {
  HeldBytes bytes(5);
  bytes.write({0, 0, 200}, 4, "before");
  bytes.write(rows(100, 3, 10, 4), 0, "left");
  bytes.write(rows(104, 3, 10, 6), 1, "right");
  EXPECT_EQ(bytes.lost_to(4), "left");
  EXPECT_FALSE(bytes.is_lost(0));
  bytes.show({0, 100, 130}, 2);
  bytes.write(rows(107, 3, 10, 2), 3, "within");
  EXPECT_FALSE(bytes.is_lost(0));
  EXPECT_EQ(bytes.lost_to(1), "within");
  EXPECT_EQ(bytes.lost_to(2), "within") << "the whole";
}

TEST(HeldBytes, AWriteIntoThePartLosesTheWholeAndTheSlicesThatItMeets) {
  HeldBytes bytes(4);
  bytes.write({0, 100, 130}, 0, "whole");
  bytes.show(rows(100, 3, 10, 4), 1);
  bytes.show(rows(104, 3, 10, 6), 2);
  bytes.write(rows(104, 3, 10, 6), 3, "over");
  EXPECT_EQ(bytes.lost_to(0), "over");
  EXPECT_FALSE(bytes.is_lost(1));
  EXPECT_EQ(bytes.lost_to(2), "over");
}

TEST(HeldBytes, OtherRowsTakeThePlaceOfDeadOnes) {
  HeldBytes bytes(5);
  bytes.write(rows(0, 4, 10, 4), 0, "a");
  bytes.write(rows(4, 4, 10, 6), 1, "b");
  bytes.write(rows(0, 5, 8, 3), 2, "c");
  bytes.write(rows(3, 5, 8, 5), 3, "d");
  EXPECT_TRUE(bytes.is_lost(0) && bytes.is_lost(1));
  EXPECT_FALSE(bytes.is_lost(2)) << "d lies beside it";
  bytes.clobber({0, 17, 18}, "a byte");
  EXPECT_TRUE(bytes.is_lost(2)) << "of its third row";
}

TEST(HeldBytes, WhereWaysMeetStripsHoldWhatEitherWayLeft) {
  HeldBytes one(4), other(4);
  one.write(rows(0, 4, 10, 4), 0, "a");
  other.write(rows(4, 4, 10, 6), 1, "b");
  HeldBytes both = one;
  both.join(other);
  both.write(rows(0, 4, 10, 2), 2, "c");
  EXPECT_EQ(both.lost_to(0), "c");
  EXPECT_FALSE(both.is_lost(1));
  both.write(rows(9, 4, 10, 1), 3, "d");
  EXPECT_EQ(both.lost_to(1), "d");
  HeldBytes again = one;
  again.join(one);
  EXPECT_EQ(again, one);
}

}  // namespace
}  // namespace lethe::testing
