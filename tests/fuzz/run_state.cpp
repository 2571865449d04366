// state.json of a checkpoint.
#include "train/session/run_state.h"

#include "tests/fuzz/fuzz.h"

namespace lethe::fuzz {
namespace {

std::string file_of(const RunState& state) {
  const Directory directory;
  write_state(directory.path(), state);
  return text_in(directory.path() + "/state.json");
}

}  // namespace

Material material() {
  return {.seeds = {file_of({}), file_of({.network = "lenet",
                                          .program = "0123456789abcdef",
                                          .epoch = 3,
                                          .step = 70,
                                          .seed = UINT64_MAX,
                                          .learning_rate = 0.1,
                                          .options = {{"epochs", "10"}, {"model", "lenet"}}})},
          .words = {"null", "true", "{}", "[]", "\"\"", "1.5", "-1", "\\u0000", "\\ud800", "\\n",
                    "\"version\":", "\"options\":", "\"step\":"}};
}

}  // namespace lethe::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static lethe::fuzz::Directory directory;
  directory.put("state.json", lethe::fuzz::text_of(data, size));
  lethe::fuzz::reads({lethe::Exit::Data}, [] {
    const lethe::RunState state = lethe::read_state(directory.path());
    for (const auto& [file, checksum] : state.checksums) lethe::check_unchanged(directory.path(), state, file);
  });
  return 0;
}
