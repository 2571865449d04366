// Encoders of texts and images with weights of transformers, timm and torchvision: what they compute is what these
// libraries do, whose figures tests/oracles/hf_encoders.py has written down.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "framework/autodiff/autodiff.h"
#include "framework/run/executor.h"
#include "kernels/cpu/device.h"
#include "memopt/memopt.h"
#include "models/config.h"
#include "models/network.h"
#include "optimizer/optimizer.h"
#include "tests/support/made_weights.h"
#include "tests/train/data_samples.h"
#include "train/session/logits.h"
#include "train/session/weights.h"

namespace lethe::testing {
namespace {

using nlohmann::json;

/// The figures by the names of the cases.
const std::map<std::string, json>& encoder_cases() {
  static const std::map<std::string, json> cases = [] {
    std::ifstream file(LETHE_SOURCE_DIR "/tests/oracles/hf_encoders.json");
    const json all = json::parse(file);
    std::map<std::string, json> read;
    for (const json& each : all.at("cases")) read[each.at("name")] = each;
    return read;
  }();
  return cases;
}

/// Those that have figures of that kind.
std::vector<std::string> encoders_with(const char* figures) {
  std::vector<std::string> names;
  for (const auto& [name, its] : encoder_cases())
    if (its.contains(figures)) names.push_back(name);
  return names;
}

class HfEncoders : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { write_made_weights(weights(), its_.at("weights")); }
  std::string weights() const { return folder_.text() + "/model.safetensors"; }
  Network network(bool training) const {
    return load_network(its_.at("model").get<std::string>(),
                        {.batch = std::ssize(its_.at("labels")), .dtype = DType::f64, .training = training},
                        its_.at("set").get<Sets>());
  }
  void fill(Store& store, const Network& network) const {
    store.initialize(network.program, network.params, 0);
    load_weights(weights(), store, network);
  }
  /// Texts padded by zeros, or images that the formula of weights makes, [N, C, H, W].
  void feed(Executor& executor, const Network& network) const {
    const Var& input = network.program.vars[network.inputs[0]];
    if (its_.contains("texts")) {
      feed_whole(executor, network.inputs[0], its_.at("texts"));
    } else {
      const std::vector<float> made = made_weights("image", elements(input.shape));
      std::vector<double> values(made.size());
      const auto pixels = static_cast<std::size_t>(input.shape[1] * input.shape[2]);
      const auto channels = static_cast<std::size_t>(input.shape[3]);
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = made[(i / channels / pixels * channels + i % channels) * pixels + i / channels % pixels];
      executor.feed(network.inputs[0], values.data(), bytes_of(input));
    }
    feed_whole(executor, network.inputs[1], its_.at("labels"));
  }

  const json& its_ = encoder_cases().at(GetParam());
  TemporaryFolder folder_;
  const std::unique_ptr<Device> device_ = open_cpu(1);

 private:
  static void feed_whole(Executor& executor, VarId input, const json& lists) {
    std::vector<std::int32_t> values;
    for (const json& number : lists.flatten()) values.push_back(number);
    executor.feed(input, values.data(), static_cast<std::int64_t>(values.size() * sizeof(std::int32_t)));
  }
};

TEST_P(HfEncoders, GiveTheSameLogits) {
  const Network evaluated = network(false);
  Prepared prepared(*device_);
  MemoptOptions memopt = suited(parse_memopt("level=2"), device_->info());
  memopt.pins.fetched = {evaluated.prediction};
  const Planned planned = plan_memory(evaluated.program, prepared, memopt);
  Store store(*device_);
  fill(store, evaluated);
  Executor executor(planned.program, planned.plan, prepared, store);
  feed(executor, evaluated);
  executor.run();
  const std::vector<double> ours = fetch_numbers(executor, evaluated.program, evaluated.prediction);
  std::size_t at = 0;
  for (const json& row : its_.at("logits"))
    for (const double theirs : row) EXPECT_NEAR(ours.at(at++), theirs, 1e-12 * std::max(1.0, std::fabs(theirs)));
  EXPECT_EQ(at, ours.size());
}

TEST_P(HfEncoders, LearnTheSame) {
  if (!its_.contains("losses")) GTEST_SKIP() << "logits alone were written down";
  const json& train = its_.at("train");
  const Network trained = network(true);
  OptimizerSettings settings = optimizer_named(train.at("optimizer"));
  settings.momentum = train.value("momentum", settings.momentum);
  settings.beta1 = train.value("beta1", settings.beta1);
  settings.beta2 = train.value("beta2", settings.beta2);
  settings.eps = train.value("eps", settings.eps);
  settings.weight_decay = train.at("weight_decay");
  settings.decay = "*";
  Program program = trained.program;
  const VarId rate =
      append_updates(program, append_backward(program, trained.loss), trained.params, settings).learning_rate;
  Prepared prepared(*device_);
  MemoptOptions memopt = suited(parse_memopt("level=2"), device_->info());
  memopt.pins.fetched = {trained.loss};
  const Planned planned = plan_memory(std::move(program), prepared, memopt);
  Store store(*device_);
  store.add(planned.program);
  fill(store, trained);
  Executor executor(planned.program, planned.plan, prepared, store);
  feed(executor, trained);
  const double value = train.at("lr");
  executor.feed(rate, &value, sizeof value);
  const bool has_batch_norm = train.at("optimizer") == "momentum";  // which magnifies what was rounded
  for (const double theirs : its_.at("losses")) {
    executor.run();
    EXPECT_NEAR(executor.fetch_scalar(trained.loss), theirs, has_batch_norm ? 1e-9 : 1e-10);
  }
}

TEST_P(HfEncoders, AreWrittenAsTheyWereRead) {
  const Network read = network(false);
  Store store(*device_);
  fill(store, read);
  const std::string written = folder_.text() + "/written.safetensors";
  save_weights(written, store, read, its_.at("library"), DType::f32);
  SafetensorsReader before(weights()), after(written);
  EXPECT_EQ(after.tensors().size(), before.tensors().size());
  for (const TensorEntry& tensor : before.tensors()) {
    const TensorEntry* const found = after.find(tensor.name);
    ASSERT_TRUE(found) << tensor.name;
    EXPECT_EQ(found->shape, tensor.shape) << tensor.name;
    EXPECT_EQ(after.read(*found), before.read(tensor)) << tensor.name;
  }
}

/// As transformers wrote the encoder of BERT at first: gamma and beta, and a tensor that counts.
TEST(EncoderWeights, OfBertMayHaveItsFirstNames) {
  const json its = encoder_cases().at("bert_embedding");
  json first = {{"tensors", {{"embeddings.position_ids", {1, 14}}}}, {"1+", json::array()}};
  for (const auto& [name, shape] : its.at("weights").at("tensors").items()) {
    const std::size_t norm = name.find("LayerNorm.");
    const bool scales = name.ends_with(".weight");
    const std::string renamed =
        norm == std::string::npos ? name : name.substr(0, norm) + (scales ? "LayerNorm.gamma" : "LayerNorm.beta");
    first["tensors"][renamed] = shape;
  }
  for (const char* head : {"classifier.weight", "classifier.bias"})
    first["tensors"][head] = head == std::string("classifier.bias") ? json({2}) : json({2, 24});
  const TemporaryFolder folder;
  write_made_weights(folder.text() + "/w", first);
  const Network network = load_network("bert", {.dtype = DType::f32}, its.at("set").get<Sets>());
  const std::unique_ptr<Device> device = open_cpu(1);
  Store store(*device);
  store.initialize(network.program, network.params, 0);
  load_weights(folder.text() + "/w", store, network);
  const auto held = [&](const char* name) {
    const std::vector<std::byte> bytes = store.read(name);
    const auto* const values = reinterpret_cast<const float*>(bytes.data());
    return std::vector<float>(values, values + bytes.size() / sizeof(float));
  };
  EXPECT_EQ(held("norm.weight"), made_weights("embeddings.LayerNorm.gamma", 24));
  EXPECT_EQ(held("layer/1/norm2.bias"), made_weights("encoder.layer.1.output.LayerNorm.beta", 24));
}

double as_number(const std::string& value) { return value == "true" ? 1 : value == "false" ? 0 : std::stod(value); }

TEST(EncoderConfigs, AreReadAsTheirModelsWereMade) {
  const TemporaryFolder folder;
  int read = 0;
  for (const auto& [name, its] : encoder_cases()) {
    if (!its.contains("config")) continue;
    SCOPED_TRACE(name);
    folder.write("config.json", its.at("config").dump());
    const ConfiguredNetwork found = read_config(folder.text() + "/config.json");
    EXPECT_EQ(found.model, its.at("model"));
    for (const auto& [var, value] : its.at("set").get<Sets>())
      EXPECT_EQ(as_number(found.sets.at(var)), var == "length" ? 14 : as_number(value)) << var;
    ++read;
  }
  EXPECT_EQ(read, 3);
  folder.write("config.json", std::string(R"({"architecture": "resnext50_32x4d", "num_classes": 3,
    "num_features": 2048, "pretrained_cfg": {"tag": "a1_in1k"}, "model_args": {"num_classes": 3, "in_chans": 3}})"));
  const ConfiguredNetwork timm = read_config(folder.text() + "/config.json");
  EXPECT_EQ(timm.model, "resnext50");
  EXPECT_EQ(timm.sets.at("classes"), "3");
}

TEST(EncoderConfigs, AreRefusedWhereTheNetworkWouldComputeOtherwise) {
  struct Wrong {
    const char *of, *key;
    json value;
    const char* says;
  };
  const std::vector<Wrong> all = {
      {"bert_embedding", "hidden_act", "relu", "'hidden_act' is \"relu\", which bert.json does not honour"},
      {"bert_embedding", "hidden_act", "gelu_new", "'hidden_act' is \"gelu_new\""},
      {"bert_embedding", "position_embedding_type", "relative_key", "'position_embedding_type' is \"relative_key\""},
      {"bert_embedding", "pad_token_id", 1, "'pad_token_id' is 1, which bert.json does not honour"},
      {"bert_embedding", "is_decoder", true, "'is_decoder' is true"},
      {"bert_embedding", "num_attention_heads", 5, "bert.json needs width % heads == 0"},
      {"bert_embedding", "attention_probs_dropout_prob", 0.5, "'attention_probs_dropout_prob' is 0.5"},
      {"bert_embedding", "embedding_size", 128, "'embedding_size' is 128, which bert.json does not honour"},
      {"vit_transformers", "hidden_act", "quick_gelu", "'hidden_act' is \"quick_gelu\", which vit.json"},
      {"vit_transformers", "attention_probs_dropout_prob", 0.1, "'attention_probs_dropout_prob' is 0.1"},
      {"vit_transformers", "patch_size", 3, "vit.json needs size % patch == 0"}};
  const TemporaryFolder folder;
  for (const Wrong& wrong : all) {
    json config = encoder_cases().at(wrong.of).at("config");
    config[wrong.key] = wrong.value;
    folder.write("config.json", config.dump(1));
    EXPECT_PRED2(says, error_from([&] { read_config(folder.text() + "/config.json"); }), wrong.says);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, HfEncoders, ::testing::ValuesIn(encoders_with("logits")),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace lethe::testing
