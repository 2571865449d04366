#include "train/report/group_limit.h"

#include <gtest/gtest.h>

#include "tests/train/data_samples.h"

namespace lethe::testing {
namespace {

/// A system whose process is in the group, and files of limits in its tree.
std::optional<std::uint64_t> limit_in(const std::string& group,
                                      const std::vector<std::pair<std::string, std::string>>& limits) {
  const TemporaryFolder root;
  root.write("proc/self/cgroup", group + "\n");
  for (const auto& [file, text] : limits) root.write("sys/fs/cgroup/" + file, text + "\n");
  return group_limit(root.text());
}

TEST(GroupLimit, IsTheLeastOfTheGroupsAboveTheProcess) {
  EXPECT_EQ(limit_in("0::/a/b", {{"a/b/memory.max", "max"}, {"a/memory.max", "5000"}, {"memory.max", "9000"}}), 5000U);
  EXPECT_EQ(limit_in("0::/a/b", {{"a/b/memory.max", "3000"}, {"a/memory.max", "5000"}}), 3000U);
  EXPECT_EQ(limit_in("0::/", {{"memory.max", "7000"}}), 7000U);
  EXPECT_EQ(limit_in("0::/a", {{"a/memory.max", "max"}}), std::nullopt);
}

TEST(GroupLimit, IsFoundInTheFirstVersionOfControlGroups) {
  const std::string groups = "5:cpu:/c\n4:memory:/a\n1:name=systemd:/x";
  EXPECT_EQ(limit_in(groups, {{"memory/a/memory.limit_in_bytes", "4096"}, {"c/memory.max", "1"}}), 4096U);
  EXPECT_EQ(limit_in(groups, {{"memory/a/memory.limit_in_bytes", "9223372036854771712"}}), std::nullopt)
      << "its word for no limit";
}

TEST(GroupLimit, IsNoneWhereTheSystemHasNoGroups) { EXPECT_EQ(limit_in("", {}), std::nullopt); }

}  // namespace
}  // namespace lethe::testing
