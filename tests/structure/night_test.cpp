// What CI leaves to the night is there.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/structure/source_files.h"

namespace lethe::testing {
namespace {

TEST(Night, TestsThatAreLeftToItAreThere) {
  const std::vector<std::string> sources = sources_in("tests/train");
  int named = 0;
  for (const std::string& line : lines_of("tests/train/of_the_night.txt")) {
    if (line.empty() || line.front() == '#') continue;
    EXPECT_EQ(std::count(sources.begin(), sources.end(), "tests/train/" + line), 1) << line;
    ++named;
  }
  EXPECT_GT(named, 0);
}

}  // namespace
}  // namespace lethe::testing
