// Layers point one way: which folder may include which.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "tests/structure/source_files.h"

namespace lethe::testing {
namespace {

using Folders = std::set<std::string>;

const std::map<std::string, Folders> kMayInclude = {
    {"framework", {}},
    {"kernels", {"framework"}},
    {"ops", {"framework", "kernels"}},
    {"optimizer", {"framework", "kernels"}},
    {"memopt", {"framework"}},
    {"models", {"framework"}},
    {"onnx", {"framework", "kernels"}},
    {"train", {"framework", "kernels", "optimizer", "memopt", "models", "onnx"}},
    {"examples", {"framework", "kernels", "optimizer", "memopt", "models", "train"}},
};
/// Rooms of a folder and which others of it each may include. What stands in the folder itself is a room, too.
const std::map<std::string, Folders> kRooms = {
    {"framework", {}},
    {"framework/language", {"framework"}},
    {"framework/autodiff", {"framework", "framework/language"}},
    {"framework/builder", {"framework", "framework/language"}},
    {"framework/ranks", {"framework", "framework/language", "framework/autodiff", "framework/builder"}},
    {"framework/run", {"framework", "framework/language", "framework/ranks"}},
    {"kernels/cpu", {}},
    {"kernels/cuda", {}},
    {"kernels", {"kernels/cpu", "kernels/cuda"}},
    {"kernels/quantized", {"kernels"}},
    {"kernels/tiles", {"kernels", "kernels/cpu"}},
    {"kernels/gemm", {"kernels", "kernels/cpu", "kernels/cuda", "kernels/quantized", "kernels/tiles"}},
    {"kernels/conv", {"kernels", "kernels/cpu", "kernels/cuda", "kernels/gemm", "kernels/tiles"}},
    {"kernels/attention", {"kernels", "kernels/cpu", "kernels/tiles"}},
    {"kernels/ranks", {"kernels", "kernels/cuda"}},
    {"kernels/reduce", {"kernels"}},
    {"kernels/norm", {"kernels", "kernels/reduce"}},
    {"memopt/analysis", {}},
    {"memopt/pack", {}},
    {"memopt/recompute", {"memopt/analysis"}},
    {"memopt/passes", {"memopt/analysis", "memopt/pack"}},
    {"memopt", {"memopt/analysis", "memopt/passes", "memopt/recompute"}},
    {"train/data", {}},
    {"train/session", {"train/data"}},
    {"train/search", {"train/session"}},
    {"train/report", {"train/data", "train/session", "train/search"}},
    {"train/optnet", {"train", "train/data", "train/session", "train/report"}},
    {"train/ranks", {}},
    {"train", {"train/data", "train/session", "train/search", "train/report", "train/ranks"}},
    {"train/python", {"train", "train/data", "train/session", "train/search", "train/report", "train/ranks"}},
    {"train/commands", {"train", "train/data", "train/session", "train/search", "train/report", "train/ranks"}},
};
/// The longest chain of includes within a folder, in files.
const std::map<std::string, int> kMostFloors = {{"kernels", 8}};
/// kernels/device_code.h takes CUDA's words from the host shim where tests run device code on the host.
const std::set<std::pair<std::string, std::string>> kExceptions = {
    {"kernels/device_code.h", "tests/simt/simt_launch.h"}};

/// What a file includes in quotes.
std::vector<std::string> included(const std::string& file) {
  static const std::regex pattern("^\\s*#\\s*include\\s*\"([^\"]+)\"");
  std::vector<std::string> names;
  for (const std::string& line : lines_of(file))
    if (std::smatch match; std::regex_search(line, match, pattern)) names.push_back(match[1]);
  return names;
}

std::string folder_of(const std::string& path) { return path.substr(0, path.find('/')); }
std::string room_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

TEST(Layers, IncludesPointAlongTheAllowedLayersOnly) {
  for (const auto& [folder, allowed] : kMayInclude)
    for (const std::string& file : sources_in(folder))
      for (const std::string& name : included(file)) {
        const std::string of = folder_of(name);
        const bool external = std::find(kFolders.begin(), kFolders.end(), of) == kFolders.end();
        EXPECT_TRUE(external || of == folder || allowed.count(of) || kExceptions.count({file, name}))
            << file << " includes " << name;
      }
}

/// The folder itself or one inside of it.
bool is_in(const std::string& folder, const std::string& file) { return file.rfind(folder + '/', 0) == 0; }

TEST(Layers, RoomsOfAFolderIncludeAlongTheirArrowsOnly) {
  Folders folders;
  for (const auto& [room, allowed] : kRooms) folders.insert(folder_of(room));
  for (const std::string& folder : folders)
    for (const std::string& file : sources_in(folder)) {
      const auto room = kRooms.find(room_of(file));
      ASSERT_NE(room, kRooms.end()) << file << " is in a room that kRooms does not name";
      for (const std::string& name : included(file))
        EXPECT_TRUE(!is_in(folder, name) || room_of(name) == room->first || room->second.count(room_of(name)))
            << file << " includes " << name;
    }
}

/// Of `file`, counting itself, through includes within `folder`.
int floors_under(const std::string& folder, const std::string& file, std::map<std::string, int>& known) {
  if (const auto found = known.find(file); found != known.end()) return found->second;
  int most = 0;
  for (const std::string& name : included(file))
    if (is_in(folder, name)) most = std::max(most, floors_under(folder, name, known));
  return known[file] = most + 1;
}

/// Of `file` and all of ours that it includes, one by one.
void note_included(const std::string& file, std::set<std::string>& all) {
  if (!all.insert(file).second) return;
  for (const std::string& name : included(file))
    if (std::find(kFolders.begin(), kFolders.end(), folder_of(name)) != kFolders.end()) note_included(name, all);
}

/// cmake/LetheLevels.cmake compiles three folders for several, and all else once.
TEST(Layers, OnlyWhatIsCompiledForEachLevelOfProcessorsAsksForInstructionSets) {
  static const std::regex pattern("__(AVX|AMX|FMA|F16C|SSE)[A-Z0-9_]*__");
  const auto asks = [](const std::string& file) {
    return std::ranges::any_of(lines_of(file), [](const auto& line) { return std::regex_search(line, pattern); });
  };
  ASSERT_TRUE(asks("kernels/cpu/lanes.h"));
  for (const char* folder : {"framework", "memopt", "models", "onnx", "train"}) {
    std::set<std::string> all;
    for (const std::string& file : sources_in(folder)) note_included(file, all);
    for (const std::string& file : all)
      EXPECT_FALSE(asks(file)) << file << ", which something in " << folder << " reads";
  }
}

TEST(Layers, AFolderHasFewFloors) {
  for (const auto& [folder, most] : kMostFloors) {
    std::map<std::string, int> known;
    for (const std::string& file : sources_in(folder)) EXPECT_LE(floors_under(folder, file, known), most) << file;
  }
}

/// Only what is the program's own writes to its standard output; a library is called by others.
TEST(Layers, ALibraryPrintsNothing) {
  static const std::regex printing("std::(cout|cerr|puts|printf|putchar|fputs)\\b|\\bstd(out|err)\\b");
  for (const char* const room : {"framework", "memopt", "models", "train/data", "train/session", "train/search"})
    for (const std::string& file : sources_in(room))
      for (const std::string& line : lines_of(file))
        EXPECT_FALSE(std::regex_search(line, printing)) << file << ": " << line;
}

/// The command line is one of many callers: a message of the library names a setting by its field, as `weight_decay`,
/// and train/report/option_names.h puts the option in its place.
TEST(Layers, ALibraryKnowsNoOptions) {
  static const std::regex comment("^\\s*//"), option("\"([^\"\\\\]|\\\\.)*--([a-z]|\",)");
  for (const char* const room : {"framework", "memopt", "models", "kernels", "ops", "optimizer", "train/data",
                                 "train/session", "train/search", "train/ranks"})
    for (const std::string& file : sources_in(room))
      for (const std::string& line : lines_of(file))
        EXPECT_FALSE(!std::regex_search(line, comment) && std::regex_search(line, option)) << file << ": " << line;
}

TEST(Layers, OursAreIncludedFromTheRoot) {
  for (const std::string& file : all_sources())
    for (const std::string& name : included(file)) {
      const bool stands_beside = std::filesystem::exists((kRoot / file).parent_path() / name);
      EXPECT_FALSE(stands_beside && !std::filesystem::exists(kRoot / name)) << file << " includes " << name;
    }
}

/// So that compiling the source tests the header alone; those without a source are compiled by themselves.
TEST(Layers, ASourceIncludesItsOwnHeaderFirst) {
  for (const std::string& file : all_sources()) {
    const std::filesystem::path own = std::filesystem::path(file).replace_extension(".h");
    if (own.string() == file || !std::filesystem::exists(kRoot / own)) continue;
    const std::vector<std::string> lines = lines_of(file);
    const auto first =
        std::find_if(lines.begin(), lines.end(), [](const auto& line) { return line.rfind("#include", 0) == 0; });
    ASSERT_NE(first, lines.end()) << file;
    EXPECT_EQ(*first, "#include \"" + own.string() + '"') << file;
  }
}

TEST(Layers, OpsAndCommandsHaveNoHeaders) {
  for (const char* const room : {"ops", "train/commands"})
    for (const std::string& file : sources_in(room)) EXPECT_EQ(file.find(".h"), std::string::npos) << file;
}

/// A guest registers itself (train/session/memory_guest.h), so its room may go and the rest still builds.
TEST(Layers, NobodyNamesTheGuest) {
  for (const auto& [folder, allowed] : kMayInclude)
    for (const std::string& file : sources_in(folder)) {
      if (is_in("train/optnet", file)) continue;
      for (const std::string& line : lines_of(file))
        EXPECT_EQ(line.find("optnet"), std::string::npos) << file << ": " << line;
    }
}

TEST(Layers, OnlyKernelsNameTheLibrariesOfDevices) {
  static const std::regex libraries("#\\s*include\\s*<(cuda|cudnn|cublas|Eigen|oneapi|dnnl|omp\\.h)");
  for (const std::string& file : all_sources()) {
    if (file.rfind("kernels/", 0) == 0 || file.rfind("tests/simulated/", 0) == 0) continue;  // which stand for them
    for (const std::string& line : lines_of(file))
      EXPECT_FALSE(std::regex_search(line, libraries)) << file << ": " << line;
  }
}

}  // namespace
}  // namespace lethe::testing
