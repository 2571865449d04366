// What libFuzzer is told of a target: `fuzz_NAME --material DIR` writes its seeds into DIR/seeds and its words, as a
// dictionary, into DIR/words.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/fuzz/fuzz.h"

namespace lethe::fuzz {
namespace {

/// As dictionaries have it: every byte that is not plain as \xAB.
std::string quoted(const std::string& word) {
  std::string text = "\"";
  for (const char c : word) {
    char escaped[5];
    std::snprintf(escaped, sizeof escaped, "\\x%02X", static_cast<unsigned char>(c));
    text += escaped;
  }
  return text + "\"\n";
}

void write_material(const std::filesystem::path& directory) {
  const Material all = material();
  std::filesystem::create_directories(directory / "seeds");
  for (std::size_t i = 0; i < all.seeds.size(); ++i)
    std::ofstream(directory / "seeds" / std::to_string(i), std::ios::binary) << all.seeds[i];
  std::ofstream words(directory / "words");
  for (const std::string& word : all.words) words << quoted(word);
}

}  // namespace
}  // namespace lethe::fuzz

/// Called by libFuzzer before it reads its arguments.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  if (*argc != 3 || std::string((*argv)[1]) != "--material") return 0;
  lethe::fuzz::write_material((*argv)[2]);
  std::exit(0);
}
