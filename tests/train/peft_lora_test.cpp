// Low-rank adapters from folders of Hugging Face's PEFT are what that makes of them: tests/oracles/peft_lora.py has
// written down logits, losses, the adapters after them and merged weights, of tiny networks with made weights.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "framework/autodiff/autodiff.h"
#include "framework/run/executor.h"
#include "kernels/cpu/device.h"
#include "memopt/memopt.h"
#include "optimizer/optimizer.h"
#include "tests/support/made_weights.h"
#include "tests/train/data_samples.h"
#include "train/session/adapter_config.h"
#include "train/session/adapter_files.h"
#include "train/session/logits.h"
#include "train/session/merge.h"
#include "train/session/programs.h"
#include "train/session/start.h"
#include "train/session/weights.h"

namespace lethe::testing {
namespace {

using nlohmann::json;

const json& adapters_of_peft() {
  static const json all = json::parse(std::ifstream(LETHE_SOURCE_DIR "/tests/oracles/peft_lora.json"));
  return all;
}

double norm_of(const std::vector<std::byte>& bytes) {
  const auto* const values = reinterpret_cast<const double*>(bytes.data());
  double squares = 0;
  for (std::size_t i = 0; i < bytes.size() / sizeof(double); ++i) squares += values[i] * values[i];
  return std::sqrt(squares);
}

class PeftLora : public ::testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(folder_.path() / "adapter");
    write_made_weights(path("base.safetensors"), its().at("weights"));
    write_adapter();
    folder_.write("adapter/adapter_config.json", its().at("adapter_config").dump());
    lora_ = lora_of(read_adapter_config(path("adapter/adapter_config.json")), network(false), "config");
  }
  static const json& its() { return adapters_of_peft()["cases"][GetParam()]; }
  std::string path(const std::string& name) const { return folder_.text() + "/" + name; }
  /// As PEFT saves one: with the whole of an embedding beside its adapter.
  void write_adapter() const {
    write_made_weights(path("own.safetensors"), its().at("adapter"));
    SafetensorsReader own(path("own.safetensors")), base(path("base.safetensors"));
    std::vector<TensorEntry> tensors = own.tensors();
    std::vector<std::vector<std::byte>> values;
    for (const TensorEntry& tensor : tensors) values.push_back(own.read(tensor));
    for (const std::string name : its().at("saved_too")) {
      std::string of_base = name.substr(std::string("base_model.model.").size());
      of_base.erase(of_base.find(".base_layer"), std::string(".base_layer").size());
      tensors.push_back({.name = name, .shape = base.find(of_base)->shape});
      values.push_back(base.read(*base.find(of_base)));
    }
    SafetensorsWriter writer(path("adapter/adapter_model.safetensors"), tensors);
    for (const std::vector<std::byte>& value : values) writer.write(value);
    writer.finish();
  }
  static Network network(bool training, const LoraSetting& lora = {}) {
    NetworkSetting setting{.model = its().at("model"), .sets = its().at("set").get<Sets>(), .dtype = DType::f64};
    setting.logits = !training;
    setting.batch = std::ssize(its().at("inputs")[0]);
    setting.lora = lora;
    return build_network(setting, training);
  }
  /// A store with the base and the adapter.
  Store loaded(const Program& program, const Network& network) {
    Store store(*device_);
    store.add(program);
    store.initialize(network.program, network.params, 0);
    read_weights({.path = path("base.safetensors"), .adapter = path("adapter")}, store, network);
    return store;
  }
  static void feed(Executor& executor, const Network& network) {
    for (std::size_t i = 0; i < network.inputs.size(); ++i) {
      std::vector<std::int32_t> values;
      for (const json& row : its().at("inputs")[i])
        for (const json& number : row.is_array() ? row : json{row}) values.push_back(number);
      executor.feed(network.inputs[i], values.data(), static_cast<std::int64_t>(values.size() * sizeof(std::int32_t)));
    }
  }
  void expect_logits(const Network& network, Store& store) {
    MemorySetting memory = memory_setting("level=2");
    memory.keeps_prediction = true;
    const Planned planned = plan_evaluation(network, memory, prepared_);
    Executor executor(planned.program, planned.plan, prepared_, store);
    feed(executor, network);
    executor.run();
    const std::vector<double> ours = fetch_numbers(executor, planned.program, network.prediction);
    const std::vector<std::size_t> rows = its().at("rows");
    const std::vector<std::vector<double>> theirs = its().at("logits");
    for (std::size_t row = 0; row < rows.size(); ++row)
      for (std::size_t i = 0; i < theirs[row].size(); ++i)
        ASSERT_NEAR(ours.at(rows[row] * theirs[row].size() + i), theirs[row][i], 1e-12) << row;
  }
  std::vector<double> trained(const Network& network, const std::string& level, Store* after = nullptr) {
    const json& adamw = adapters_of_peft()["adamw"];
    OptimizerSettings settings = optimizer_named("adamw");
    settings.beta1 = adamw["beta1"], settings.beta2 = adamw["beta2"], settings.eps = adamw["eps"];
    settings.weight_decay = adamw["weight_decay"];
    Program program = network.program;
    const std::vector<ParamGrad> gradients = append_backward(program, network.loss, {}, kNone, network.frozen);
    const VarId rate = append_updates(program, gradients, network.params, settings).learning_rate;
    MemoptOptions memopt = suited(parse_memopt(level), device_->info());
    memopt.pins.fetched = {network.loss};
    const Planned planned = plan_memory(std::move(program), prepared_, memopt);
    Store store = loaded(planned.program, network);
    Executor executor(planned.program, planned.plan, prepared_, store);
    feed(executor, network);
    const double value = adamw["lr"];
    executor.feed(rate, &value, sizeof value);
    std::vector<double> losses;
    while (losses.size() < its().at("losses").size()) {
      executor.run();
      losses.push_back(executor.fetch_scalar(network.loss));
    }
    if (after) save_adapter(path("after"), store, network, "", {}, {});
    return losses;
  }

  const TemporaryFolder folder_;
  LoraSetting lora_ = {};
  const std::unique_ptr<Device> device_ = open_cpu(1);
  Prepared prepared_{*device_};
};

TEST_P(PeftLora, HasTheLogits) {
  const Network adapted = network(false, lora_);
  Store store = loaded(adapted.program, adapted);
  expect_logits(adapted, store);
}

/// Whatever the memory stage does.
TEST_P(PeftLora, TrainsAlike) {
  const Network adapted = network(true, lora_);
  Store unused(*device_);
  const std::vector<double> ours = trained(adapted, "level=2", &unused), theirs = its().at("losses");
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t step = 0; step < ours.size(); ++step) EXPECT_NEAR(ours[step], theirs[step], 1e-10) << step;
  SafetensorsReader after(path("after/adapter_model.safetensors"));
  EXPECT_EQ(after.tensors().size(), its().at("after").size());
  for (const auto& [name, norm] : its().at("after").items()) {
    const TensorEntry* const tensor = after.find(name);
    ASSERT_TRUE(tensor) << name;
    EXPECT_EQ(json(tensor->shape), its().at("adapter").at("tensors").at(name)) << name;
    EXPECT_NEAR(norm_of(after.read(*tensor)), norm.get<double>(), 1e-9 * norm.get<double>()) << name;
  }
  for (const char* const level : {"none", "level=1,release"}) EXPECT_EQ(trained(adapted, level), ours) << level;
}

TEST_P(PeftLora, MergesAlike) {
  const Network adapted = network(false, lora_), plain = network(false);
  Store store = loaded(adapted.program, adapted);
  merge_adapters(store, adapted);
  expect_logits(plain, store);
  expect_logits(adapted, store);
  save_weights(path("merged.safetensors"), store, plain, "huggingface");
  SafetensorsReader merged(path("merged.safetensors"));
  std::size_t changed = 0;
  for (const TensorEntry& tensor : merged.tensors()) {
    const json& norms = its().at("merged");
    const std::string prefixed = norms.contains(tensor.name) ? tensor.name : "transformer." + tensor.name;
    if (!norms.contains(prefixed)) continue;
    const double theirs = norms.at(prefixed);
    EXPECT_NEAR(norm_of(merged.read(tensor)), theirs, 1e-12 * theirs) << tensor.name;
    ++changed;
  }
  EXPECT_EQ(changed, its().at("merged").size());
}

/// Under the same names, and with a config that means the same.
TEST_P(PeftLora, GivesTheAdapterBack) {
  const Network adapted = network(false, lora_);
  const Store store = loaded(adapted.program, adapted);
  const char* const kept = std::getenv("LETHE_ADAPTERS");  // tests/oracles/check, who lets PEFT open them
  const std::string back = kept ? message(kept, '/', its().at("name").get<std::string>()) : path("back");
  save_adapter(back, store, adapted, "", DType::f32, {});
  SafetensorsReader before(path("own.safetensors")), after(back + "/adapter_model.safetensors");
  EXPECT_EQ(after.tensors().size(), before.tensors().size());
  for (const TensorEntry& tensor : before.tensors()) {
    const TensorEntry* const found = after.find(tensor.name);
    ASSERT_TRUE(found) << tensor.name;
    EXPECT_EQ(found->shape, tensor.shape) << tensor.name;
    EXPECT_EQ(after.read(*found), before.read(tensor)) << tensor.name;
  }
  const AdapterConfig config = read_adapter_config(back + "/adapter_config.json");
  EXPECT_EQ(network(false, lora_of(config, network(false), "back")).adapters, adapted.adapters);
  EXPECT_EQ(config.fan_in_fan_out, its().at("adapter_config").at("fan_in_fan_out").get<bool>());
}

INSTANTIATE_TEST_SUITE_P(Cases, PeftLora, ::testing::Range(std::size_t{0}, adapters_of_peft()["cases"].size()),
                         [](const auto& info) -> std::string {
                           return adapters_of_peft()["cases"][info.param]["name"];
                         });

}  // namespace
}  // namespace lethe::testing
