// A GGUF file that the package gguf wrote, of numbers in all the forms that are read, is what transformers makes of its
// numbers: tests/oracles/gguf_llama.py has written both down.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kernels/cpu/device.h"
#include "tests/train/data_samples.h"
#include "train/data/folder_tokenizer.h"
#include "train/gguf_model.h"
#include "train/session/next_logits.h"
#include "train/session/weights.h"

namespace lethe::testing {
namespace {

std::string from_base64(const std::string& text) {
  static const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned held = 0;
  int bits = 0;
  for (const char letter : text) {
    if (letter == '=') break;
    held = held << 6U | static_cast<unsigned>(letters.find(letter));
    if ((bits += 6) < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(held >> bits & 0xffU);
  }
  return bytes;
}

TEST(GgufOracle, LogitsAreThoseOfTransformers) {
  const auto its = nlohmann::json::parse(std::ifstream(LETHE_SOURCE_DIR "/tests/oracles/gguf_llama.json"));
  const TemporaryFolder folder;
  folder.write("tiny.gguf", from_base64(its["file"]));
  const std::string file = folder.text() + "/tiny.gguf";
  const ConfiguredNetwork configured = read_gguf_model(file);
  const Network network =
      build_network({.model = configured.model, .sets = configured.sets, .dtype = DType::f64, .logits = true}, false);
  const std::unique_ptr<Device> device = open_cpu(1);
  Store store(*device);
  store.initialize(network.program, network.params, 0);
  load_weights(file, store, network);
  MemorySetting memory = memory_setting("level=2");
  memory.keeps_prediction = true;
  Prepared prepared(*device);
  const Planned planned = plan_evaluation(network, memory, prepared);
  WindowLogits next(network, planned, prepared, store);
  const std::vector<std::int32_t> tokens = its["tokens"];
  const std::vector<double> logits = next.after(tokens), expected = its["logits"];
  ASSERT_EQ(logits.size(), expected.size());
  for (std::size_t i = 0; i < logits.size(); ++i) EXPECT_NEAR(logits[i], expected[i], 1e-7) << i;
}

/// Tokens as transformers 5.24.0 reads them of the same file.
TEST(GgufOracle, SmolLm2IsWhatItWasMadeAs) {
  const char* const file = std::getenv("LETHE_GGUF");
  if (!file) GTEST_SKIP() << "LETHE_GGUF names no file; SmolLM2-135M-Instruct.Q4_1.gguf is the one that this knows";
  const ConfiguredNetwork configured = read_gguf_model(file);
  EXPECT_EQ(configured.sets.at("layers"), "30");
  EXPECT_EQ(configured.sets.at("vocab"), "49152");
  const FolderTokenizer folder = open_folder_tokenizer(file);
  EXPECT_EQ(folder.end, 2);
  const std::pair<const char*, std::vector<std::int32_t>> texts[] = {
      {"The capital of France is", {504, 3575, 282, 4649, 314}},
      {" leading and  double  spaces", {2899, 284, 216, 5561, 216, 5600}},
      {"caf\xc3\xa9 na\xc3\xafve", {83, 1939, 2756, 15486, 46494}},
      {"12345 + 678", {33, 34, 35, 36, 37, 1232, 216, 38, 39, 40}}};
  for (const auto& [text, tokens] : texts) EXPECT_EQ(folder.tokenizer->symbols_of(text), tokens) << text;
}

}  // namespace
}  // namespace lethe::testing
