// The project's own sources, found in its folders.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace lethe::testing {

extern const std::filesystem::path kRoot;
inline const std::vector<std::string> kFolders = {"framework", "kernels", "ops",   "optimizer", "memopt", "models",
                                                  "onnx",      "train",   "tests", "examples",  "bench"};

/// All .h and .cpp of a folder, relative to the root, sorted.
std::vector<std::string> sources_in(const std::string& folder);
std::vector<std::string> all_sources();
std::vector<std::string> lines_of(const std::string& file);

}  // namespace lethe::testing
