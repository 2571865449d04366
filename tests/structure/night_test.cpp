// What CI leaves to the night is there.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/structure/source_files.h"

namespace lethe::testing {
namespace {

bool is_defined(const std::string& suite, const std::string& name) {
  const std::vector<std::string> sources = sources_in("tests/train");
  return std::any_of(sources.begin(), sources.end(), [&](const std::string& file) {
    const std::vector<std::string> lines = lines_of(file);
    return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
      return line.rfind("TEST", 0) == 0 && line.find('(' + suite + ", " + name + ')') != std::string::npos;
    });
  });
}

TEST(Night, TestsThatAreLeftToItAreThere) {
  int named = 0;
  for (const std::string& line : lines_of("tests/train/of_the_night.txt")) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t dot = line.find('.');
    ASSERT_NE(dot, std::string::npos) << line;
    EXPECT_TRUE(is_defined(line.substr(0, dot), line.substr(dot + 1))) << line;
    ++named;
  }
  EXPECT_GT(named, 0);
}

}  // namespace
}  // namespace lethe::testing
