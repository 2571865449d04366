// A folder as Hugging Face has them, of a tiny GPT-2 on a little text.
#pragma once
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kernels/cpu/device.h"
#include "models/network.h"
#include "tests/train/run_fixture.h"
#include "tests/train/token_samples.h"
#include "train/session/safetensors.h"
#include "train/session/weights.h"

namespace lethe::testing {

using nlohmann::json;

inline const Sets kTinyGpt2 = {{"vocab", "96"}, {"length", "8"}, {"width", "8"}, {"heads", "2"}, {"layers", "2"}};

inline json tiny_gpt2() {
  return {{"model_type", "gpt2"},
          {"vocab_size", 96},
          {"n_positions", 8},
          {"n_embd", 8},
          {"n_head", 2},
          {"n_layer", 2},
          {"activation_function", "gelu_new"},
          {"resid_pdrop", 0.1},
          {"transformers_version", "5.24.0"}};
}

class HuggingFaceFolder : public RunTest {
 protected:
  void SetUp() override {
    RunTest::SetUp();
    std::filesystem::create_directory(home_ / "m");
    write("m/config.json", tiny_gpt2().dump());
    std::filesystem::create_directory(home_ / "t");
    write("t/tokenizer.json", tokenizer_of_characters());
    std::string text;
    for (int i = 0; i < 40; ++i) text += "the quick brown fox " + std::to_string(i * i) + "\n";
    write("text.txt", text);
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }
  /// Initial values of the tiny GPT-2 by a seed, under Hugging Face's names.
  void write_weights(const std::string& name, std::uint64_t seed = 7, const Sets& sets = kTinyGpt2) const {
    const Network network = load_network("gpt2", {}, sets);
    const std::unique_ptr<Device> device = open_cpu(1);
    Store store(*device);
    store.initialize(network.program, network.params, seed);
    save_weights(path(name), store, network, "huggingface");
  }
  /// Cuts m/model.safetensors into three files with an index.
  json cut_into_shards() const {
    SafetensorsReader whole(path("m/model.safetensors"));
    json index = {{"metadata", {{"total_size", 1}}}, {"weight_map", json::object()}};
    for (std::size_t part = 0; part < 3; ++part) {
      const std::string name = "model-" + std::to_string(part) + ".safetensors";
      std::vector<TensorEntry> tensors;
      for (std::size_t i = part; i < whole.tensors().size(); i += 3) tensors.push_back(whole.tensors()[i]);
      SafetensorsWriter writer(path("m/" + name), tensors);
      for (std::size_t i = part; i < whole.tensors().size(); i += 3) {
        writer.write(whole.read(whole.tensors()[i]));
        index["weight_map"][whole.tensors()[i].name] = name;
      }
      writer.finish();
    }
    std::filesystem::remove(path("m/model.safetensors"));
    return index;
  }
  void write_index(const json& index) const { write("m/model.safetensors.index.json", index.dump()); }

  std::string folder() const { return "hf:" + path("m"); }
  std::vector<std::string> on_text(std::vector<std::string> more) const {
    more.insert(more.end(), {"--data", "text:" + path("text.txt") + ",tokenizer=" + path("t"), "--threads", "1"});
    return more;
  }
  /// What evaluation prints.
  std::string score(std::vector<std::string> more) const {
    more.insert(more.begin(), "eval");
    const Ended ended = run_train(on_text(more));
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.out;
  }
  /// What a command says of a folder with this config.json, after the name of that; all of it is a fault of data.
  std::string refused(const json& config) const {
    write("m/config.json", config.dump());
    const Ended ended = run_train({"plan", "--model", folder()});
    EXPECT_EQ(ended.code, 4) << ended.err;
    const std::size_t at = ended.err.find("config.json:1:");
    return at == std::string::npos ? ended.err : ended.err.substr(at);
  }
  std::string refused(json config, const std::string& key, const json& value) const {
    config[key] = value;
    return refused(config);
  }
};

}  // namespace lethe::testing
