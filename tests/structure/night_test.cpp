// What CI leaves to the night is there.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "framework/error.h"
#include "tests/structure/source_files.h"

namespace lethe::testing {
namespace {

TEST(Night, SourcesThatAreLeftToItAreThere) {
  const std::vector<std::string> sources = sources_in("tests/train");
  int named = 0;
  for (const std::string& line : lines_of("tests/train/of_the_night.txt")) {
    if (line.empty() || line.front() == '#') continue;
    EXPECT_EQ(std::count(sources.begin(), sources.end(), "tests/train/" + line), 1) << line;
    ++named;
  }
  EXPECT_GT(named, 0);
}

TEST(Night, TestsThatAreLeftToItAreThere) {
  std::string all;
  for (const std::string& source : sources_in("tests"))
    for (const std::string& line : lines_of(source)) all += line;
  int named = 0;
  for (const std::string& line : lines_of("tests/of_the_night.txt")) {
    if (line.empty() || line.front() == '#') continue;
    std::smatch name;
    ASSERT_TRUE(std::regex_match(line, name, std::regex(R"((?:\w+/)?(\w+)\.(\w+)(?:/\w+)?)"))) << line;
    EXPECT_NE(all.find(message(name[1].str(), ", ", name[2].str(), ")")), std::string::npos) << line;
    ++named;
  }
  EXPECT_GT(named, 0);
}

}  // namespace
}  // namespace lethe::testing
