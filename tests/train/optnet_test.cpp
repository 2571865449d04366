// The grouping rule, on plain records and on those of the published tables.
#include "train/optnet/optnet.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"
#include "tests/train/optnet_samples.h"

namespace lethe::testing {
namespace {

TEST(OptnetGrouping, ATensorTakesTheMemoryOfOneThatDiedBefore) {
  const OptnetGroups groups = group_by_last_use({{10, 1, 2}, {30, 2, 3}, {20, 3, 4}});
  EXPECT_EQ(groups.group, (std::vector<int>{0, 1, 0}));
  EXPECT_EQ(groups.elements, (std::vector<std::int64_t>{20, 30}));
  EXPECT_EQ(groups.total(), 50);
}

TEST(OptnetGrouping, TheCallOfTheLastReadMayNotWrite) {
  EXPECT_EQ(group_by_last_use({{10, 1, 2}, {10, 2, 4}}).total(), 20);
  EXPECT_EQ(group_by_last_use({{10, 1, 2}, {10, 3, 4}}).total(), 10);
}

TEST(OptnetGrouping, TheFirstFreeGroupIsTakenThoughAnotherFitsBetter) {
  const OptnetGroups groups = group_by_last_use({{5, 1, 2}, {100, 1, 3}, {100, 4, 6}});
  EXPECT_EQ(groups.group, (std::vector<int>{0, 1, 0}));
  EXPECT_EQ(groups.total(), 200);
}

TEST(OptnetGrouping, WhatIsNeverUsedStaysAlone) {
  const OptnetGroups groups = group_by_last_use({{10, 1, 2}, {10, 20'000, kOptnetNever}, {10, 3, 4}});
  EXPECT_EQ(groups.group, (std::vector<int>{0, 1, 0}));
}

TEST(OptnetGrouping, ALateTensorIsSharedHoweverManyCallsWentBefore) {
  EXPECT_EQ(group_by_last_use({{10, 10'001, 10'002}, {10, 10'003, 10'004}}).total(), 10);
}

TEST(OptnetGrouping, AGhostKeepsAPlaceAndItsOwnMemory) {
  const OptnetGroups groups = group_by_last_use({{10, 1, 2}, {40, 3, 6, OptnetKind::Ghost}, {10, 5, 7}, {20, 7, 8}});
  EXPECT_EQ(groups.group, (std::vector<int>{0, 0, 1, 0}));
  EXPECT_EQ(groups.ghosts, 40);
  EXPECT_EQ(groups.total(), 20 + 10 + 40);
}

TEST(OptnetGrouping, PinnedMemoryIsTheCallers) {
  EXPECT_EQ(group_by_last_use({{50, -1, kOptnetNever, OptnetKind::Pinned}, {10, 1, 2}}).total(), 10);
}

TEST(OptnetGrouping, RecordedLifetimesGiveThePublishedBytes) {
  for (const OptnetSample& sample : optnet_samples()) {
    SCOPED_TRACE(sample.key);
    std::vector<OptnetRecord> records;
    std::vector<int> recorded;
    for (const RecordedLife& life : recorded_lives(sample)) {
      records.push_back(life.record);
      recorded.push_back(life.group);
    }
    const OptnetGroups groups = group_by_last_use(records);
    const OptnetBytes after = recorded_bytes(sample, true);
    EXPECT_EQ(groups.total() * bytes_of(sample.dtype), sample.training ? after.grad_inputs : after.outputs);
    for (std::size_t r = 0; r < records.size(); ++r)  // the order among those never used was the sort's
      if (records[r].used != kOptnetNever) {
        EXPECT_EQ(groups.group[r], recorded[r]) << "record " << r;
      }
  }
}

TEST(OptnetOptions, NothingNamedIsEverything) {
  EXPECT_EQ(parse_optnet("inference"), OptnetOptions{});
  EXPECT_EQ(parse_optnet("inference,inplace,reuse_buffers,remove_grad_params"), OptnetOptions{});
}

TEST(OptnetOptions, OnlyWhatIsNamedIsOn) {
  EXPECT_EQ(parse_optnet("training,reuse_buffers"),
            (OptnetOptions{.training = true, .inplace = false, .reuse_buffers = true, .remove_grad_params = false}));
  EXPECT_EQ(parse_optnet("training,none"),
            (OptnetOptions{.training = true, .inplace = false, .reuse_buffers = false, .remove_grad_params = false}));
}

TEST(OptnetOptions, TheTextReadsBack) {
  for (const char* text : {"inference,none", "training,inplace", "inference,inplace,reuse_buffers,remove_grad_params"})
    EXPECT_EQ(text_of(parse_optnet(text)), text);
}

TEST(OptnetOptions, WrongWordsAreNamed) {
  EXPECT_TRUE(fails_with("'evaluation' is neither inference nor training", [] { parse_optnet("evaluation"); }));
  EXPECT_TRUE(fails_with("unknown 'in-place'", [] { parse_optnet("training,in-place"); }));
  EXPECT_TRUE(fails_with("'inplace' stands there twice", [] { parse_optnet("training,inplace,inplace"); }));
  EXPECT_TRUE(fails_with("nothing stands after the last comma", [] { parse_optnet("training,inplace,"); }));
  EXPECT_TRUE(fails_with("unknown 'none'", [] { parse_optnet("training,inplace,none"); }));
}

}  // namespace
}  // namespace lethe::testing
