// Which ops are known by name beyond their own source.
#include "framework/language/core_ops.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "framework/language/op_def.h"

namespace lethe::testing {
namespace {

std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(CoreOps, AllAreInTheTable) {
  for (const char* const type : kCoreOps) EXPECT_NE(find_op(type), nullptr) << type;
}

/// But for those of the language, and for optnet, which reads Torch's modules out of a program.
TEST(CoreOps, TheMemoryStageKnowsNoOpByName) {
  int sources = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(LETHE_SOURCE_DIR "/memopt")) {
    if (!entry.is_regular_file() || entry.path().string().find("/optnet/") != std::string::npos) continue;
    const std::string content = content_of(entry.path());
    for (const OpDef* const op : all_ops())
      EXPECT_EQ(content.find('"' + op->type + '"'), std::string::npos) << entry.path() << " names " << op->type;
    ++sources;
  }
  EXPECT_GT(sources, 20);
}

}  // namespace
}  // namespace lethe::testing
