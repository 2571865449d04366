// Whatever reads files of others has a fuzz target.
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>

#include "tests/structure/source_files.h"

namespace lethe::testing {
namespace {

const std::map<std::string, std::string> kTargets = {
    {"framework/text_input.cpp", "network"},
    {"train/data/cifar.cpp", "cifar"},
    {"train/data/checksum.cpp", "run_state"},
    {"train/data/csv_file.cpp", "csv"},
    {"train/data/npy_file.cpp", "npy"},
    {"train/data/data_files.cpp", "mnist"},
    {"train/session/device.cpp", "device"},
    {"train/data/image_file.cpp", "image"},
    {"train/data/mask_file.cpp", "mask"},
    {"train/report/metrics.cpp", "metrics"},
    {"train/data/mapped_file.cpp", "tokens"},
    {"train/data/mnist.cpp", "mnist"},
    {"train/session/library_weights.cpp", "model_folder"},
    {"train/session/embedder.cpp", "model_folder"},
    {"train/session/gguf_reader.h", "gguf"},
    {"train/data/gguf_file.cpp", "gguf"},
    {"train/data/pair_files.cpp", "tokenizer"},
    {"train/report/pack_csv.cpp", "pack_csv"},
    {"onnx/read_model.cpp", "onnx"},
    {"onnx/read_tensor.cpp", "onnx"},
    {"train/session/run_state.cpp", "run_state"},
    {"train/session/safetensors.h", "safetensors"},
    {"train/session/tensor_file.h", "safetensors"},
    {"train/session/tensor_file.cpp", "safetensors"},
    {"train/data/text_file.cpp", "text_file"},
    {"train/data/tokenizer.cpp", "tokenizer"},
    {"train/session/share_files.cpp", "shares"},
    {"train/data/tokenizer_rules.cpp", "tokenizer"},
    {"train/data/tokenizer_source.cpp", "tokenizer"},
    {"train/data/sentencepiece_file.cpp", "tokenizer"},
    {"train/data/word_piece_files.cpp", "tokenizer"},
};
/// They read what processes of ours wrote, those that they start, and that which holds a lock; or what the system tells
/// of the processor and of limits.
const std::set<std::string> kReadTheirOwn = {"train/commands/bench.cpp", "train/commands/env.cpp",
                                             "train/report/group_limit.cpp", "train/session/atomic_file.cpp",
                                             "train/session/measured_file.cpp"};

bool has(const std::string& file, std::initializer_list<const char*> words) {
  const std::vector<std::string> lines = lines_of(file);
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
    return std::any_of(words.begin(), words.end(), [&](const char* w) { return line.find(w) != std::string::npos; });
  });
}
bool reads_files(const std::string& file) {
  return has(file, {"std::ifstream", "= read_file(", "(read_file(", "return read_file(", "pread(", "::mmap("});
}

TEST(Readers, EachHasAFuzzTarget) {
  for (const std::string& file : all_sources()) {
    if (file.rfind("tests/", 0) == 0 || file.rfind("bench/", 0) == 0 || file.rfind("examples/", 0) == 0) continue;
    if (kReadTheirOwn.count(file) != 0 || !reads_files(file)) continue;
    const auto target = kTargets.find(file);
    ASSERT_NE(target, kTargets.end()) << file << " reads files: give it a target in tests/fuzz";
    EXPECT_TRUE(
        has("tests/fuzz/CMakeLists.txt", {(" " + target->second + " ").c_str(), (" " + target->second + ")").c_str()}))
        << target->second << " is not built";
  }
}

}  // namespace
}  // namespace lethe::testing
