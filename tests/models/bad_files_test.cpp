// Wrong files beside the one line that each must end in. "…" in a line stands for anything.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "models/network.h"

namespace lethe::testing {
namespace {

namespace fs = std::filesystem;

std::string line_of(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

bool is_as(const std::string& text, const std::string& pattern) {
  const std::string anything = "…";
  const std::size_t gap = pattern.find(anything);
  if (gap == std::string::npos) return text == pattern;
  const std::string before = pattern.substr(0, gap), after = pattern.substr(gap + anything.size());
  return text.size() >= before.size() + after.size() && text.compare(0, before.size(), before) == 0 &&
         text.compare(text.size() - after.size(), after.size(), after) == 0;
}

TEST(BadNetworkFiles, EachEndsInItsOneLine) {
  const fs::path folder = fs::path(LETHE_SOURCE_DIR) / "tests/models/bad";
  int files = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    ++files;
    const std::string expected = line_of(fs::path(entry.path()).replace_extension(".txt"));
    try {
      load_network(entry.path().string(), {.batch = 2});
      ADD_FAILURE() << "accepted: " << entry.path();
    } catch (const Error& error) {
      const std::string text = std::string(error.what()).substr(folder.string().size() + 1);
      EXPECT_TRUE(is_as(text, expected)) << "expected: " << expected << "\n     was: " << text;
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
      EXPECT_EQ(error.code, Exit::Usage);
    }
  }
  EXPECT_GE(files, 45);
}

}  // namespace
}  // namespace lethe::testing
