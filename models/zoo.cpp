#include "models/zoo.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "framework/did_you_mean.h"
#include "framework/language/op_def.h"
#include "framework/text_input.h"
#include "models/json_source.h"
#include "models/network.h"

namespace lethe {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path>& shipped() {
  static std::vector<fs::path> all;
  return all;
}

std::vector<fs::path> directories() {
  std::vector<fs::path> all;
  if (const char* list = std::getenv("LETHE_MODELS")) {
    std::istringstream in(list);
    for (std::string directory; std::getline(in, directory, ':');)
      if (!directory.empty()) all.emplace_back(directory);
  }
  all.insert(all.end(), shipped().begin(), shipped().end());
#ifdef LETHE_MODELS_SOURCE
  all.emplace_back(LETHE_MODELS_SOURCE);
#endif
  std::error_code none;
  if (const fs::path program = fs::read_symlink("/proc/self/exe", none); !program.empty())
    all.push_back(program.parent_path() / "../../../share/lethe/models");
  all.emplace_back(LETHE_MODELS_INSTALLED);
  return all;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Network files below a directory by name, which is the path without ".json".
std::map<std::string, fs::path> files_in(const fs::path& directory) {
  std::map<std::string, fs::path> files;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory, none)) {
    const std::string name = fs::relative(entry.path(), directory).generic_string();
    if (ends_with(name, ".json") && !ends_with(name, ".schema.json"))
      files[name.substr(0, name.size() - 5)] = entry.path();
  }
  return files;
}

/// The file of that name in one directory, else the variant. Parsing the whole zoo takes as long as planning a small
/// network: a file is parsed only if its text may hold the name (what is escaped may be any).
std::optional<ZooEntry> find_in(const fs::path& directory, const std::string& name) {
  const std::map<std::string, fs::path> files = files_in(directory);
  if (const auto file = files.find(name); file != files.end()) return ZooEntry{file->second.string(), ""};
  for (const auto& [of, path] : files) {
    const std::string file = path.string(), text = read_text(file);
    if (text.find('"' + name + '"') == std::string::npos && text.find('\\') == std::string::npos) continue;
    const JsonSource source(file, text);
    if (source.root().has("variants") && source.root().at("variants").has(name)) return ZooEntry{file, name};
  }
  return std::nullopt;
}

}  // namespace

void look_for_models_in(const std::string& directory) { shipped().emplace_back(directory); }

ZooEntry find_model(const std::string& name_or_file) {
  std::error_code none;
  if (ends_with(name_or_file, ".json") || fs::is_regular_file(name_or_file, none)) return {name_or_file, ""};
  if (const std::size_t mark = name_or_file.rfind(kVariantMark); mark != std::string::npos)
    if (const std::string file = name_or_file.substr(0, mark);
        ends_with(file, ".json") || fs::is_regular_file(file, none))
      return {file, name_or_file.substr(mark + 1)};
  for (const fs::path& directory : directories())
    if (std::optional<ZooEntry> found = find_in(directory, name_or_file)) return *std::move(found);
  const std::vector<std::string> known = zoo_names();
  fail("unknown model ", quote(name_or_file), did_you_mean(name_or_file, known), "; known: ", joined(known),
       ", or a file that ends in .json");
}

std::vector<std::pair<std::string, std::string>> zoo_files() {
  std::vector<std::pair<std::string, std::string>> all;
  std::set<std::string> names;
  for (const fs::path& directory : directories())
    for (const auto& [name, path] : files_in(directory))
      if (names.insert(name).second) all.emplace_back(name, path.string());
  return all;
}

std::vector<std::string> zoo_names() {
  std::set<std::string> names;
  for (const auto& [name, file] : zoo_files()) {
    names.insert(name);
    const JsonSource source(file);
    if (!source.root().has("variants")) continue;
    for (const auto& [variant, values] : source.root().at("variants").members()) names.insert(variant);
  }
  return {names.begin(), names.end()};
}

}  // namespace lethe
