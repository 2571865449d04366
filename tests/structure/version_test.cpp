// The version stands in CMakeLists.txt; what cannot take it from there is held to it.
#include <gtest/gtest.h>

#include <regex>

#include "tests/structure/source_files.h"

namespace lethe::testing {
namespace {

/// What the pattern's groups are in the first line of the file that has it.
std::vector<std::string> first_match(const std::string& file, const std::string& pattern) {
  std::smatch found;
  for (const std::string& line : lines_of(file))
    if (std::regex_search(line, found, std::regex(pattern))) return {found.begin() + 1, found.end()};
  ADD_FAILURE() << file << " has no line like " << pattern;
  return {"", ""};
}

const std::string kNumbers = "([0-9]+\\.[0-9]+\\.[0-9]+)";

std::string version() { return first_match("CMakeLists.txt", "^project\\(lethe VERSION " + kNumbers)[0]; }

TEST(Version, CitationAndChangelogHaveIt) {
  EXPECT_EQ(first_match("CITATION.cff", "^version: " + kNumbers + "$")[0], version());
  const std::vector<std::string> newest =
      first_match("CHANGELOG.md", "^## \\[" + kNumbers + "\\] - ([0-9]{4}-[0-9]{2}-[0-9]{2})$");
  EXPECT_EQ(newest[0], version());
  EXPECT_EQ(first_match("CITATION.cff", "^date-released: (.*)$")[0], newest[1]);
}

TEST(Version, KeepsFilesForLaterOnes) {
  const std::string minor = version().substr(0, version().rfind('.'));
  EXPECT_TRUE(std::filesystem::exists(kRoot / "tests/compatibility" / minor / "words.json"))
      << "docs/reference/compatibility.md says how they are made";
}

}  // namespace
}  // namespace lethe::testing
