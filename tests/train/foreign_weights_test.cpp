// Weights under the names, and in the layout, of a library that the network file states.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <numeric>

#include "kernels/cpu/device.h"
#include "kernels/low_floats.h"
#include "models/network.h"
#include "tests/train/data_samples.h"
#include "tests/train/train_process.h"
#include "train/session/safetensors.h"
#include "train/session/weights.h"

namespace lethe::testing {
namespace {

/// tokens.weight [3,2], twice layer/i/qkv.weight [6,2] and .bias [6].
constexpr const char* kNetwork = R"({
  "version": 1, "name": "parts", "vars": {"width": 2},
  "inputs": {"text": {"shape": [4], "dtype": "i32"}, "next": {"shape": [4], "dtype": "i32"}},
  "blocks": {"layer": {"layers": [
    {"op": "fc", "out": "=3*width", "flatten": false, "name": "qkv"}, {"op": "slice", "axis": 1, "end": "=width"}]}},
  "layers": [
    {"op": "embedding", "vocab": 3, "out": "=width", "name": "tokens"},
    {"block": "layer", "times": 2, "name": "layer"},
    {"op": "fc", "out": 3, "flatten": false, "bias": false, "share": "tokens", "name": "logits"}],
  "loss": [{"op": "cross_entropy", "in": "logits", "target": "next"}],
  "weights": {"huggingface": {"prefix": "model.", "tensors": [
    {"tensor": "wte.weight", "param": "tokens.weight"},
    {"tensor": ["h.{i}.q.weight", "h.{i}.kv.weight"], "param": "layer/{i}/qkv.weight", "rows": ["=width", "=2*width"],
     "transpose": true},
    {"tensor": ["h.{i}.q.bias", "h.{i}.kv.bias"], "param": "layer/{i}/qkv.bias", "rows": ["=width", "=2*width"]},
    {"tensor": "head.weight", "param": "tokens.weight"},
    {"tensor": "h.{i}.mask"}]}}
})";

std::vector<float> as_floats(const std::vector<std::byte>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// A tensor of the file.
std::vector<float> floats_in(SafetensorsReader& reader, const std::string& name) {
  return as_floats(reader.read(*reader.find(name)));
}

/// Writes 1, 2, 3 and so on in the order of the names, from 0 again before f32 would round.
void count_up(Store& store) {
  std::int64_t next = 1;
  for (const std::string& name : store.names()) {
    std::vector<float> values(static_cast<std::size_t>(elements(store.var(name).shape)));
    for (float& value : values) value = static_cast<float>(next++ % 65521);
    store.write(name, values.data(), static_cast<std::int64_t>(values.size() * sizeof(float)));
  }
}

std::vector<std::vector<std::byte>> all_held_by(const Store& store) {
  std::vector<std::vector<std::byte>> all;
  for (const std::string& name : store.names()) all.push_back(store.read(name));
  return all;
}

/// Writes zeros into the store, loads the file, and expects what was there before.
void expect_loads_the_same(const std::string& file, Store& store, const Network& network) {
  const std::vector<std::vector<std::byte>> before = all_held_by(store);
  for (const std::string& name : store.names()) {
    const std::vector<std::byte> zeros(static_cast<std::size_t>(bytes_of(store.var(name))));
    store.write(name, zeros.data(), std::ssize(zeros));
  }
  load_weights(file, store, network);
  EXPECT_TRUE(all_held_by(store) == before);
}

class ForeignWeights : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.write("parts.json", std::string(kNetwork));
    network_ = load_network(folder_.text() + "/parts.json", {});
    store_.add(network_.program);
    count_up(store_);
  }
  void write(const std::string& name, const std::vector<float>& values) {
    store_.write(name, values.data(), static_cast<std::int64_t>(values.size() * sizeof(float)));
  }
  std::string file() const { return folder_.text() + "/w.safetensors"; }
  /// The saved file once more, changed: under other names, in another dtype, with more or fewer tensors.
  struct Change {
    std::string prefix = {}, without = {};
    bool bf16 = false;
    std::vector<TensorEntry> more = {};
    std::vector<float> values_of_more = {};
    std::string renamed = {}, to = {};
  };
  void rewrite(const Change& change) const {
    SafetensorsReader reader(file());
    std::vector<TensorEntry> tensors;
    std::vector<std::vector<std::byte>> values;
    for (TensorEntry tensor : reader.tensors()) {
      if (tensor.name == change.without) continue;
      std::vector<std::byte> data = reader.read(tensor);
      if (change.bf16) {
        tensor.dtype = DType::bf16;
        std::vector<Bf16> low;
        for (const float value : floats_in(reader, tensor.name)) low.emplace_back(value);
        data.resize(low.size() * sizeof(Bf16));
        std::memcpy(data.data(), low.data(), data.size());
      }
      if (tensor.name == change.renamed) tensor.name = change.to;
      tensor.name.insert(0, change.prefix);
      tensors.push_back(tensor);
      values.push_back(std::move(data));
    }
    for (const TensorEntry& tensor : change.more) {
      std::vector<std::byte> data(static_cast<std::size_t>(tensor.bytes()));
      if (!change.values_of_more.empty()) std::memcpy(data.data(), change.values_of_more.data(), data.size());
      tensors.push_back(tensor);
      values.push_back(std::move(data));
    }
    SafetensorsWriter writer(file(), tensors);
    for (const std::vector<std::byte>& data : values) writer.write(data);
    writer.finish();
  }
  std::string refused() {
    const std::vector<std::vector<std::byte>> before = all_held_by(store_);
    std::string text = error_from([&] { load_weights(file(), store_, network_); });
    EXPECT_EQ(all_held_by(store_), before);
    return text.substr(file().size() + 2);
  }

  TemporaryFolder folder_;
  std::unique_ptr<Device> device_ = open_cpu(1);
  Store store_{*device_};
  Network network_;
};

TEST_F(ForeignWeights, AreWrittenInTheirLayout) {
  std::vector<float> rows(12);
  std::iota(rows.begin(), rows.end(), 0.0F);  // [6,2]: row r is 2 r, 2 r + 1
  write("layer/1/qkv.weight", rows);
  save_weights(file(), store_, network_, "huggingface");
  SafetensorsReader reader(file());
  EXPECT_EQ(reader.tensors().size(), 9U);
  EXPECT_EQ(reader.find("h.1.q.weight")->shape, (Shape{2, 2}));
  EXPECT_EQ(reader.find("h.1.kv.weight")->shape, (Shape{2, 4}));
  EXPECT_EQ(floats_in(reader, "h.1.q.weight"), (std::vector<float>{0, 2, 1, 3}));
  EXPECT_EQ(floats_in(reader, "h.1.kv.weight"), (std::vector<float>{4, 6, 8, 10, 5, 7, 9, 11}));
  EXPECT_EQ(reader.find("h.0.kv.bias")->shape, Shape{4});
  EXPECT_EQ(reader.find("head.weight"), nullptr) << "one parameter, written once";
}

TEST_F(ForeignWeights, ComeBackToTheBit) {
  const Change changes[] = {{},
                            {.prefix = "model."},
                            {.more = {{.name = "model.h.1.mask", .dtype = DType::u8, .shape = {7}}}},
                            {.bf16 = true}};  // small whole numbers, which bf16 holds
  for (const Change& change : changes) {
    save_weights(file(), store_, network_, "huggingface");
    rewrite(change);
    expect_loads_the_same(file(), store_, network_);
  }
  EXPECT_EQ(SafetensorsReader(file()).tensors().front().dtype, DType::bf16);
  save_weights(file(), store_, network_);  // by the network's own names
  expect_loads_the_same(file(), store_, network_);
}

TEST_F(ForeignWeights, MayHaveAParameterTwice) {
  save_weights(file(), store_, network_, "huggingface");
  SafetensorsReader reader(file());
  std::vector<float> head = floats_in(reader, "wte.weight");
  const std::vector<TensorEntry> more = {{.name = "head.weight", .shape = {3, 2}}};
  rewrite({.more = more, .values_of_more = head});
  expect_loads_the_same(file(), store_, network_);
  head[5] += 1;
  save_weights(file(), store_, network_, "huggingface");
  rewrite({.more = more, .values_of_more = head});
  EXPECT_EQ(refused(),
            "tensor 'head.weight' has other values than 'wte.weight'; the network has them once, as 'tokens.weight'");
}

TEST_F(ForeignWeights, MayHaveAParameterByItsSecondNameAlone) {
  for (const char* name : {"head.weight", "model.head.weight"}) {
    save_weights(file(), store_, network_, "huggingface");
    rewrite({.renamed = "wte.weight", .to = name});
    expect_loads_the_same(file(), store_, network_);
  }
  save_weights(file(), store_, network_, "huggingface");
  rewrite({.without = "wte.weight"});
  EXPECT_EQ(refused(), "missing 'wte.weight'");
  save_weights(file(), store_, network_, "huggingface");
  rewrite({.without = "wte.weight", .more = {{.name = "head.weight", .shape = {2, 3}}}});
  EXPECT_EQ(refused(), "tensor 'head.weight' is f32[2,3], expected f32[3,2]");
}

TEST_F(ForeignWeights, OfDTypesThatNobodyReadsArePassedOverWithTheirTensors) {
  const auto masked = [&](const std::string& name, const std::string& header) {
    save_weights(file(), store_, network_, "huggingface");
    SafetensorsReader reader(file());
    const std::string whole = bytes_in(file());
    const std::size_t length = static_cast<unsigned char>(whole[0]) + 256U * static_cast<unsigned char>(whole[1]);
    const std::size_t data = whole.size() - 8 - length;
    std::string text = whole.substr(8, length);
    text.insert(text.rfind('}'),
                message(",\"", name, "\":{", header, ",\"data_offsets\":[", data, ",", data + 6, "]}"));
    while (text.size() % 8 != 0) text += ' ';
    std::string front;
    for (int i = 0; i < 8; ++i) front += static_cast<char>(text.size() >> (8 * i));
    folder_.write("w.safetensors", front + text + whole.substr(8 + length) + std::string(6, '\1'));
  };
  masked("h.0.mask", R"("dtype":"BOOL","shape":[2,3])");
  expect_loads_the_same(file(), store_, network_);
  masked("h.0.what", R"("dtype":"BOOL","shape":[2,3])");
  EXPECT_EQ(refused(), "unexpected 'h.0.what'");
  masked("head.weight", R"("dtype":"F8_E4M3","shape":[3,2])");
  EXPECT_EQ(refused(), "tensor 'head.weight' is F8_E4M3[3,2], expected f32[3,2]");
}

TEST_F(ForeignWeights, WhatDoesNotFitIsNamed) {
  const auto refused_with = [&](const Change& change) {
    save_weights(file(), store_, network_, "huggingface");
    rewrite(change);
    return refused();
  };
  EXPECT_EQ(refused_with({.without = "h.1.q.bias"}), "missing 'h.1.q.bias'");
  EXPECT_EQ(refused_with({.without = "h.1.q.bias", .more = {{.name = "h.1.q.bais", .shape = {2}}}}),
            "missing 'h.1.q.bias'; did you mean 'h.1.q.bais'?; unexpected 'h.1.q.bais'");
  EXPECT_EQ(refused_with({.more = {{.name = "h.2.q.bias", .shape = {2}}}}), "unexpected 'h.2.q.bias'");
  EXPECT_EQ(refused_with({.without = "h.0.q.weight", .more = {{.name = "h.0.q.weight", .shape = {2, 3}}}}),
            "tensor 'h.0.q.weight' is f32[2,3], expected f32[2,2]");
}

/// By library, network and its vars: some of the names that its files have, and their shapes.
TEST(WeightNames, OfTheZooAreThoseOfTheLibrary) {
  struct Known {
    const char *library, *model;
    Sets sets;
    std::size_t tensors;
    std::vector<std::pair<std::string, Shape>> some;
  };
  const std::vector<Known> all = {
      {"timm",
       "vit_s16",
       {},
       152,  // as timm's vit_small_patch16_224 has
       {{"cls_token", {1, 1, 384}},
        {"pos_embed", {1, 197, 384}},
        {"patch_embed.proj.weight", {384, 3, 16, 16}},
        {"blocks.11.attn.qkv.weight", {1152, 384}},
        {"blocks.0.mlp.fc1.weight", {1536, 384}},
        {"blocks.0.mlp.fc2.weight", {384, 1536}},
        {"head.weight", {1000, 384}}}},
      {"timm", "vit_tiny", {{"pool_mean", "true"}, {"layers", "2"}}, 31, {{"pos_embed", {1, 64, 192}}}},
      {"huggingface", "gpt2", {{"layers", "1"}, {"vocab", "100"}}, 16, {{"h.0.attn.c_attn.weight", {768, 2304}}}},
      {"huggingface", "llama", {{"layers", "2"}}, 21, {{"model.layers.1.self_attn.k_proj.weight", {128, 384}}}}};
  for (const Known& known : all) {
    SCOPED_TRACE(known.model);
    const TemporaryFolder folder;
    const std::unique_ptr<Device> device = open_cpu(1);
    const Network network = load_network(known.model, {}, known.sets);
    Store store(*device);
    store.add(network.program);
    count_up(store);
    save_weights(folder.text() + "/w", store, network, known.library);
    SafetensorsReader reader(folder.text() + "/w");
    EXPECT_EQ(reader.tensors().size(), known.tensors);
    for (const auto& [name, shape] : known.some) {
      const TensorEntry* const found = reader.find(name);
      ASSERT_TRUE(found) << name;
      EXPECT_EQ(found->shape, shape) << name;
    }
    expect_loads_the_same(folder.text() + "/w", store, network);
  }
}

TEST(WeightNames, OfSquareMatricesAreTransposedToo) {
  const TemporaryFolder folder;
  const std::unique_ptr<Device> device = open_cpu(1);
  const Network network = load_network("gpt2", {}, {{"layers", "1"}, {"vocab", "100"}});
  Store store(*device);
  store.add(network.program);
  count_up(store);
  save_weights(folder.text() + "/w", store, network, "huggingface");
  SafetensorsReader reader(folder.text() + "/w");
  const std::vector<float> of_file = floats_in(reader, "h.0.attn.c_proj.weight");
  const std::vector<float> own = as_floats(store.read("layer/0/attention/out.weight"));
  constexpr std::size_t kWidth = 768;
  ASSERT_EQ(of_file.size(), kWidth * kWidth);
  EXPECT_EQ(of_file[1 * kWidth + 2], own[2 * kWidth + 1]);
  EXPECT_NE(of_file[1 * kWidth + 2], own[1 * kWidth + 2]);
}

TEST_F(ForeignWeights, AreOfLibrariesThatTheFileStates) {
  EXPECT_EQ(error_from([&] { save_weights(file(), store_, network_, "huggingfaces"); }, Exit::Usage),
            "parts: its \"weights\" name none of 'huggingfaces'; did you mean 'huggingface'?; known: huggingface");
}

}  // namespace
}  // namespace lethe::testing
