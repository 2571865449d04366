#include "tests/fuzz/fuzz.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace lethe::fuzz {

namespace fs = std::filesystem;

namespace {

std::vector<Target>& targets() {
  static std::vector<Target> all;
  return all;
}

}  // namespace

RegisterTarget::RegisterTarget(const Target& target) { targets().push_back(target); }

const Target& chosen_target(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  for (const Target& target : targets())
    if (name == target.name) return target;
  if (name == "--targets") {
    for (const Target& target : targets()) std::puts(target.name);
    std::exit(0);
  }
  std::fprintf(stderr, "fuzz: no target '%s'; fuzz --targets names them\n", name.c_str());
  std::exit(2);
}

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

void check_complaint(const Error& error, std::initializer_list<Exit> allowed) {
  const std::string text = error.what();
  const bool known = std::find(allowed.begin(), allowed.end(), error.code) != allowed.end();
  if (known && !text.empty() && text.find('\n') == std::string::npos) return;
  std::fprintf(stderr, "fuzz: exit code %d: %s\n", static_cast<int>(error.code), text.c_str());
  require(known, "the exit code does not blame the input");
  require(false, "the complaint is not one line");
}

Directory::Directory() : path_("/dev/shm/lethe_fuzz_XXXXXX") {
  require(mkdtemp(path_.data()) != nullptr, "no temporary directory");
}

Directory::~Directory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string Directory::put(const std::string& name, std::string_view content) const {
  std::string path = path_ + '/' + name;
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

std::string text_in(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  require(in.good(), "a file cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> files_in_source(const std::string& folder, const std::string& ending) {
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(LETHE_SOURCE_DIR) / folder))
    if (entry.path().extension() == ending) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> contents;
  for (const fs::path& path : paths) contents.push_back(text_in(path.string()));
  require(!contents.empty(), "no seeds in the source tree");
  return contents;
}

}  // namespace lethe::fuzz
