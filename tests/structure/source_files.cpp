#include "tests/structure/source_files.h"

#include <algorithm>
#include <fstream>

namespace lethe::testing {

const std::filesystem::path kRoot = LETHE_SOURCE_DIR;

std::vector<std::string> sources_in(const std::string& folder) {
  std::vector<std::string> files;
  if (!std::filesystem::exists(kRoot / folder)) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kRoot / folder))
    if (const auto kind = entry.path().extension(); kind == ".h" || kind == ".cpp")
      files.push_back(std::filesystem::relative(entry.path(), kRoot).generic_string());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> all_sources() {
  std::vector<std::string> files;
  for (const std::string& folder : kFolders) {
    const std::vector<std::string> part = sources_in(folder);
    files.insert(files.end(), part.begin(), part.end());
  }
  return files;
}

std::vector<std::string> lines_of(const std::string& file) {
  std::ifstream in(kRoot / file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace lethe::testing
