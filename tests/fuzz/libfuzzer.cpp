// What libFuzzer is told: which target it is. `fuzz NAME --material DIR` writes its seeds into DIR/seeds and its words,
// as a dictionary, into DIR/words.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/fuzz/fuzz.h"

namespace lethe::fuzz {
namespace {

const Target* target = nullptr;

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
  const Material all = target->material();
  std::filesystem::create_directories(directory / "seeds");
  for (std::size_t i = 0; i < all.seeds.size(); ++i)
    std::ofstream(directory / "seeds" / std::to_string(i), std::ios::binary) << all.seeds[i];
  std::ofstream words(directory / "words");
  for (const std::string& word : all.words) words << quoted(word);
}

}  // namespace
}  // namespace lethe::fuzz

/// Called by libFuzzer before it reads its arguments, of which it gets all but the target's name.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  using namespace lethe::fuzz;
  target = &chosen_target(*argc, *argv);
  (*argv)[1] = (*argv)[0];
  ++*argv, --*argc;
  if (*argc != 3 || std::string((*argv)[1]) != "--material") return 0;
  write_material((*argv)[2]);
  std::exit(0);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lethe::fuzz::target->read_input(data, size);
  return 0;
}
