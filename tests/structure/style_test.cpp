// How sources look: size, guards, format.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <regex>

#include "tests/structure/source_files.h"

namespace lethe::testing {
namespace {

constexpr std::size_t kMostHeaderLines = 100, kMostSourceLines = 300;

/// Files that may be longer, each with how long and why.
struct Longer {
  std::size_t lines;
  const char* why;
};
const std::map<std::string, Longer> kLonger = {};

bool is_header(const std::string& file) { return file.size() > 2 && file.compare(file.size() - 2, 2, ".h") == 0; }

TEST(Style, FilesAreSmall) {
  for (const std::string& file : all_sources()) {
    const auto longer = kLonger.find(file);
    const std::size_t most = longer != kLonger.end() ? longer->second.lines
                             : is_header(file)       ? kMostHeaderLines
                                                     : kMostSourceLines;
    EXPECT_LE(lines_of(file).size(), most)
        << file << (longer == kLonger.end() ? "" : std::string(", allowed more: ") + longer->second.why);
  }
}

TEST(Style, ExceptionsInSizeAreStillNeeded) {
  for (const auto& [file, longer] : kLonger)
    EXPECT_GT(lines_of(file).size(), is_header(file) ? kMostHeaderLines : kMostSourceLines)
        << file << ", " << longer.why;
}

TEST(Style, HeadersAreReadOnce) {
  for (const std::string& file : all_sources()) {
    if (!is_header(file)) continue;
    const std::vector<std::string> lines = lines_of(file);
    EXPECT_NE(std::find(lines.begin(), lines.end(), "#pragma once"), lines.end()) << file;
  }
}

TEST(Style, LinesAreAtMost120CharactersWithoutTabsOrTrailingSpace) {
  for (const std::string& file : all_sources()) {
    int number = 0;
    for (const std::string& line : lines_of(file)) {
      ++number;
      EXPECT_TRUE(line.size() <= 120 && line.find('\t') == std::string::npos && (line.empty() || line.back() != ' '))
          << file << ':' << number;
    }
  }
}

// Each major version formats a little otherwise; the sources follow this one.
TEST(Style, ClangFormat14Agrees) {
  if (std::system("clang-format --version 2>/dev/null | grep -q 'version 14'") != 0)
    GTEST_SKIP() << "clang-format 14 is not installed";
  std::string command = "cd '" + kRoot.string() + "' && clang-format --dry-run -Werror";
  for (const std::string& file : all_sources()) command.append(" '").append(file).append("'");
  EXPECT_EQ(std::system(command.append(" 2>&1").c_str()), 0) << "run ./dev format";
}

// A reader that ends early kills what still writes, and with pipefail the script: seldom, and where much is written.
TEST(Style, ScriptsReadTheirPipesToTheEnd) {
  const std::regex early(R"(\| *(head\b|grep -[a-zA-Z]*[qm]))");
  std::vector<std::string> scripts = {"dev", ".ci/run"};
  for (const char* folder : {"scripts", "tests"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kRoot / folder))
      if (entry.is_regular_file()) scripts.push_back(std::filesystem::relative(entry.path(), kRoot).generic_string());
  int read = 0;
  for (const std::string& script : scripts) {
    const std::vector<std::string> lines = lines_of(script);
    if (lines.empty() || lines[0].find("bash") == std::string::npos) continue;
    ++read;
    for (std::size_t i = 0; i < lines.size(); ++i)
      EXPECT_FALSE(std::regex_search(lines[i], early)) << script << ':' << i + 1;
  }
  EXPECT_GT(read, 10);
}

}  // namespace
}  // namespace lethe::testing
