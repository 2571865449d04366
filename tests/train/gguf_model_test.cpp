// A model as one GGUF file: the network and the weights that it stands for.
#include "train/gguf_model.h"

#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "kernels/cpu/device.h"
#include "models/network.h"
#include "tests/train/data_samples.h"
#include "tests/train/gguf_samples.h"
#include "tests/train/run_fixture.h"
#include "train/session/gguf_reader.h"
#include "train/session/gguf_weights.h"
#include "train/session/gguf_writer.h"
#include "train/session/weights.h"

namespace lethe::testing {
namespace {

using Strings = std::vector<std::string>;

/// Of llama_keys().
const Sets kTinyLlama = {{"vocab", "265"}, {"length", "16"},  {"width", "32"},  {"layers", "2"},
                         {"heads", "4"},   {"kv_heads", "2"}, {"hidden", "64"}, {"tied", "1"}};

class GgufModel : public RunTest {
 protected:
  std::string model() const { return path("m.gguf"); }
  static Network network(const Sets& more = {}) {
    Sets sets = kTinyLlama;
    for (const auto& [var, value] : more) sets[var] = value;
    return load_network("llama", {}, sets);
  }
  Store store_of(const Network& network, std::uint64_t seed) const {
    Store store(*device_);
    store.initialize(network.program, network.params, seed);
    return store;
  }
  static std::vector<float> floats_in(const std::vector<std::byte>& bytes) {
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  static std::vector<float> values_of(const Store& store, const Network& network, const std::string& param) {
    return floats_in(store.read_whole(network.program.vars[find_var(network.program, param)]));
  }
  /// The tiny llama with initial values of a seed, and the tokenizer of byte_pair_keys().
  void save(const Network& network, const Store& store, std::optional<DType> matrices = {}) const {
    GgufEntries keys = llama_keys();
    for (GgufEntry& each : byte_pair_keys()) keys.push_back(std::move(each));
    save_gguf(model(), store, network, "gguf_llama", keys, matrices);
  }
  void save() const {
    const Network tiny = network();
    save(tiny, store_of(tiny, 7));
  }
  /// What is said of a file with these keys and no tensors but those named.
  std::string refused(const GgufEntries& keys, const Strings& tensors = {}) const {
    std::vector<TensorEntry> entries;
    for (const std::string& name : tensors) entries.push_back({.name = name, .shape = {1}});
    GgufWriter writer(model(), keys, entries);
    for (std::size_t i = 0; i < entries.size(); ++i) writer.write(std::vector<std::byte>(4));
    writer.finish();
    const std::string error = error_from([&] { read_gguf_model(model()); });
    return error.starts_with(model() + ": ") ? error.substr(model().size() + 2) : error;
  }
  /// The same of the tiny llama's keys, of which one is another or new.
  std::string refused_with(const GgufEntry& other) const {
    GgufEntries keys = llama_keys();
    std::erase_if(keys, [&](const GgufEntry& entry) { return entry.key == other.key; });
    keys.push_back(other);
    return refused(keys);
  }
  std::string ran(Strings words) const {
    words.insert(words.end(), {"--threads", "1"});
    const Ended ended = run_train(words);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.out;
  }

  std::unique_ptr<Device> device_ = open_cpu(1);
};

TEST_F(GgufModel, IsTheNetworkThatItsKeysSay) {
  save();
  const ConfiguredNetwork read = read_gguf_model(model());
  EXPECT_EQ(read.model, "llama");
  EXPECT_EQ(read.family, "gguf_llama");
  const Sets expected = {{"heads", "4"},    {"hidden", "64"},         {"kv_heads", "2"},     {"layers", "2"},
                         {"length", "16"},  {"mlp_bias", "0"},        {"norm_eps", "1e-05"}, {"out_bias", "0"},
                         {"qkv_bias", "0"}, {"rope_base", "10000.0"}, {"rope_factor", "1"},  {"tied", "1"},
                         {"vocab", "265"},  {"width", "32"},          {"head_size", "8"}};
  EXPECT_EQ(read.sets, expected);
  ASSERT_EQ(read.bounds.size(), 1U);
  EXPECT_EQ(read.bounds[0].key, "llama.context_length");
  EXPECT_EQ(read.bounds[0].most, 16);
}

TEST_F(GgufModel, KeysOfANetworkAreThoseThatItIsReadFrom) {
  const NetworkFile file = read_network_file("llama");
  Sets sets = kTinyLlama;
  sets["norm_eps"] = "1e-6";
  const GgufEntries keys = gguf_keys(file, sets, "gguf_llama");
  save_gguf(model(), store_of(network(), 7), network(), "gguf_llama", keys);
  const ConfiguredNetwork read = read_gguf_model(model());
  for (const auto& [var, value] : sets) EXPECT_EQ(read.sets.at(var), var == "norm_eps" ? "1e-06" : value) << var;
  sets["window"] = "8";
  EXPECT_PRED2(says, error_from([&] { gguf_keys(file, sets, "gguf_llama"); }, Exit::Usage),
               "window is 8, which files of gguf_llama cannot say: they mean 0");
}

TEST_F(GgufModel, HasTheWeightsThatWereSaved) {
  for (const char* tied : {"1", "0"}) {
    const Network tiny = network({{"tied", tied}});
    const Store store = store_of(tiny, 7);
    save(tiny, store);
    EXPECT_EQ(GgufReader(model()).find("output.weight") != nullptr, std::string_view(tied) == "0");
    Store read = store_of(tiny, 8);
    load_weights(model(), read, tiny);
    for (const ParamInfo& info : tiny.params) {
      const std::string& name = tiny.program.vars[info.var].name;
      EXPECT_EQ(values_of(read, tiny, name), values_of(store, tiny, name)) << name;
    }
  }
}

TEST_F(GgufModel, HasTheRowsOfHeadsInPairs) {
  const Network tiny = network();
  const Store store = store_of(tiny, 7);
  save(tiny, store);
  GgufReader reader(model());
  const auto tensor = [&](const char* name) { return floats_in(reader.read(*reader.find(name))); };
  const std::vector<float> fused = values_of(store, tiny, "layer/1/attention/qkv.weight");
  constexpr std::size_t kWidth = 32, kHead = 8;
  const std::vector<float> q = tensor("blk.1.attn_q.weight"), k = tensor("blk.1.attn_k.weight"),
                           v = tensor("blk.1.attn_v.weight");
  const auto row = [&](const std::vector<float>& of, std::size_t at) {
    return std::vector<float>(of.begin() + static_cast<std::ptrdiff_t>(at * kWidth),
                              of.begin() + static_cast<std::ptrdiff_t>((at + 1) * kWidth));
  };
  for (std::size_t head = 0; head < 4; ++head)
    for (std::size_t i = 0; i < kHead / 2; ++i) {
      EXPECT_EQ(row(q, head * kHead + 2 * i), row(fused, head * kHead + i));
      EXPECT_EQ(row(q, head * kHead + 2 * i + 1), row(fused, head * kHead + kHead / 2 + i));
      EXPECT_EQ(row(k, head / 2 * kHead + 2 * i + 1), row(fused, 32 + head / 2 * kHead + kHead / 2 + i));
    }
  for (std::size_t at = 0; at < 16; ++at) EXPECT_EQ(row(v, at), row(fused, 48 + at));
}

TEST_F(GgufModel, RoundsMatricesAndNotNorms) {
  const Network tiny = network();
  save(tiny, store_of(tiny, 7), DType::bf16);
  const GgufReader reader(model());
  EXPECT_EQ(reader.find("blk.0.ffn_up.weight")->dtype, DType::bf16);
  EXPECT_EQ(reader.find("blk.0.ffn_norm.weight")->dtype, DType::f32);
}

TEST_F(GgufModel, SaysWhatANetworkWouldNotHonour) {
  EXPECT_EQ(refused({}), "lacks 'general.architecture', which says what kind of model it is of");
  EXPECT_EQ(
      refused({gguf_text("general.architecture", "mamba")}),
      "no network file is for models of type 'gguf_mamba'; did you mean 'gguf_llama'?; known: gguf_llama, gguf_qwen2");
  EXPECT_EQ(refused({gguf_text("general.architecture", "llama")}),
            "lacks 'llama.vocab_size', which llama.json needs for its var vocab");
  EXPECT_EQ(refused_with(gguf_count("llama.attention.head_count", 5)),
            "'llama.attention.head_count' is 5; llama.json needs width % heads == 0");
  EXPECT_EQ(refused_with(gguf_count("llama.block_count", 0)),
            "'llama.block_count' is 0, expected a whole number from 1 on");
  EXPECT_EQ(refused_with(gguf_count("llama.rope.dimension_count", 4)),
            "'llama.rope.dimension_count' is 4, which llama.json does not honour; it honours 8");
  EXPECT_EQ(refused_with(gguf_text("llama.rope.scaling.type", "yarn")),
            "'llama.rope.scaling.type' is \"yarn\", which llama.json does not honour; it honours \"none\"");
  EXPECT_EQ(refused_with(gguf_count("llama.expert_count", 8)),
            "'llama.expert_count' is 8, which llama.json does not honour; it honours 0");
  EXPECT_PRED2(says, refused_with(gguf_count("llama.attention.sliding_window", 8)),
               "'llama.attention.sliding_window' is 8, which llama.json does not honour");
  EXPECT_EQ(refused_with(gguf_count("llama.block_count.more", 8)),
            "'llama.block_count.more' stands beside the value 'llama.block_count'");
  EXPECT_EQ(refused_with(gguf_count("split.count", 3)),
            "is one of 3 files, which are read as one alone; gguf-split --merge makes that");
  EXPECT_EQ(refused(llama_keys(), {"rope_freqs.weight"}), "'rope_freqs.weight' is \"here\", expected a number");
}

/// Factors by llama.cpp's convert_hf_to_gguf.py for heads of 8 numbers, the base 500000 and the factor 8.
TEST_F(GgufModel, KnowsTheFactorsOfLlama3) {
  GgufEntries keys = llama_keys();
  keys.back().value = 500000.0;
  std::vector<float> factors = {1, 1, 1, 8};
  const auto factor = [&] {
    GgufWriter writer(model(), keys, {{.name = "rope_freqs.weight", .shape = {4}}});
    std::vector<std::byte> bytes(16);
    std::memcpy(bytes.data(), factors.data(), bytes.size());
    writer.write(bytes);
    writer.finish();
    return read_gguf_model(model()).sets["rope_factor"];
  };
  factors[2] = 2.69452969F;
  EXPECT_EQ(factor(), "8.0");
  factors[2] = 1;
  EXPECT_PRED2(says, error_from(factor), "'rope_freqs.weight' is \"here\", expected a number");
}

TEST_F(GgufModel, WrongWeightsAreRefusedByName) {
  const Network tiny = network();
  GgufWriter writer(model(), llama_keys(), {{.name = "token_embd.weight", .dtype = DType::q8_0, .shape = {265, 32}}});
  std::vector<std::byte> blocks(265 * 34);
  blocks[1] = std::byte{0x7c};  // the first scale is infinite
  writer.write(blocks);
  writer.finish();
  Store store = store_of(tiny, 7);
  EXPECT_PRED2(says, error_from([&] { load_weights(model(), store, tiny); }), ": missing 'blk.0.attn_norm.weight'");
  const Network gpt2 = load_network("gpt2", {}, {{"layers", "1"}, {"width", "32"}, {"heads", "4"}});
  Store other = store_of(gpt2, 7);
  EXPECT_PRED2(says, error_from([&] { load_weights(model(), other, gpt2); }),
               ": has weights as gguf_llama names and orders them, which gpt2 does not know");
  WeightsSetting lenient;
  lenient.fresh = "layer/*,norm.weight";
  EXPECT_PRED2(says, error_from([&] { load_weights(model(), store, tiny, lenient); }),
               ": tensor 'token_embd.weight' has");
}

TEST_F(GgufModel, GeneratesTrainsAndGoesOn) {
  save();
  std::string text;
  for (int i = 0; i < 60; ++i) text += "a low newer lower\n";
  std::ofstream(path("text.txt")) << text;
  const std::string named = "gguf:" + model();
  EXPECT_PRED2(says, ran({"generate", "--model", named, "--prompt", "a low", "--tokens", "4"}), "a low");
  EXPECT_PRED2(says, ran({"show", "--model", named}), "llama");
  const Strings learns = {"--data", "text:" + path("text.txt"), "--lora", "r=2", "--batch", "2", "--save", path("run")};
  Strings words = {"--model", named, "--steps", "2"};
  words.insert(words.end(), learns.begin(), learns.end());
  ran(words);
  ran({"--resume", path("run"), "--steps", "4"});
  EXPECT_PRED2(says, ran({"generate", "--weights", path("run"), "--prompt", "a low", "--tokens", "4"}), "a low");
  EXPECT_PRED2(says, run_train({"plan", "--model", "gguf:" + path("none.gguf")}).err,
               "no such file; gguf: takes a GGUF file on this machine");
}

}  // namespace
}  // namespace lethe::testing
