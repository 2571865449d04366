// state.json of a checkpoint.
#include "train/session/run_state.h"

#include "tests/fuzz/fuzz.h"

namespace lethe::fuzz::run_state_target {
namespace {

std::string file_of(const RunState& state) {
  const Directory directory;
  write_state(directory.path(), state);
  return text_in(directory.path() + "/state.json");
}

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

void read_input(const std::uint8_t* data, std::size_t size) {
  static Directory directory;
  directory.put("state.json", text_of(data, size));
  reads({Exit::Data}, [] {
    const RunState state = read_state(directory.path());
    for (const auto& [file, checksum] : state.checksums) check_unchanged(directory.path(), state, file);
  });
}

const RegisterTarget target{{"run_state", material, read_input}};

}  // namespace
}  // namespace lethe::fuzz::run_state_target
