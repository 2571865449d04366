// Networks of text from Hugging Face's folders are what transformers makes of them: tests/oracles/hf_text.py has
// written down logits, losses, weights after them and text, of tiny networks with made weights.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "framework/autodiff/autodiff.h"
#include "framework/run/executor.h"
#include "kernels/cpu/device.h"
#include "memopt/memopt.h"
#include "models/config.h"
#include "models/network.h"
#include "optimizer/optimizer.h"
#include "tests/support/made_weights.h"
#include "tests/support/values.h"
#include "tests/train/data_samples.h"
#include "train/session/text_reading.h"
#include "train/session/weights.h"

namespace lethe::testing {
namespace {

using nlohmann::json;

const json& texts_of_transformers() {
  static const json all = json::parse(std::ifstream(LETHE_SOURCE_DIR "/tests/oracles/hf_text.json"));
  return all;
}

void feed_tokens(Executor& executor, const Network& network, const json& of) {
  for (const VarId input : network.inputs) {
    std::vector<std::int32_t> tokens;
    for (const json& row : of[network.program.vars[input].name])
      for (const std::int32_t token : row) tokens.push_back(token);
    executor.feed(input, tokens.data(), static_cast<std::int64_t>(tokens.size() * sizeof(std::int32_t)));
  }
}

std::vector<double> numbers_of(const Executor& executor, const Var& var, VarId id) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(bytes_of(var)));
  executor.fetch(id, bytes.data(), std::ssize(bytes));
  std::vector<double> values;
  for (std::int64_t i = 0; i < elements(var.shape); ++i) values.push_back(number_at(var.dtype, bytes.data(), i));
  return values;
}

double norm_of(const std::vector<double>& values) {
  double squares = 0;
  for (const double x : values) squares += x * x;
  return std::sqrt(squares);
}

class HuggingFaceText : public ::testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override { write_made_weights(weights(), its()); }
  static const json& its() { return texts_of_transformers()["cases"][GetParam()]; }
  std::string weights() const { return folder_.text() + "/model.safetensors"; }
  static NetworkSetting setting(std::int64_t batch, const Sets& sets, DType dtype = DType::f64) {
    return {.model = its()["model"], .sets = sets, .dtype = dtype, .logits = true, .batch = batch};
  }
  static Sets its_sets() { return its()["set"].get<Sets>(); }
  static MemorySetting memory() {
    MemorySetting memory = memory_setting("level=2");
    memory.keeps_prediction = true;
    return memory;
  }
  /// A store with the file's weights.
  Store loaded(const Network& network) {
    Store store(*device_);
    store.initialize(network.program, network.params, 0);
    load_weights(weights(), store, network);
    return store;
  }
  std::vector<double> logits(const Sets& sets, DType dtype = DType::f64) {
    const Network network = build_network(setting(2, sets, dtype), false);
    Store store = loaded(network);
    const Planned planned = plan_evaluation(network, memory(), prepared_);
    Executor executor(planned.program, planned.plan, prepared_, store);
    feed_tokens(executor, network, its());
    executor.run();
    return numbers_of(executor, network.program.vars[network.prediction], network.prediction);
  }
  /// The losses of as many steps as transformers made; the store is trained.
  std::vector<double> trained(const Network& network, const std::string& level, Store& store) {
    Program program = network.program;
    const json& adamw = texts_of_transformers()["adamw"];
    OptimizerSettings settings = optimizer_named("adamw");
    settings.beta1 = adamw["beta1"], settings.beta2 = adamw["beta2"], settings.eps = adamw["eps"];
    settings.weight_decay = adamw["weight_decay"];
    const VarId rate =
        append_updates(program, append_backward(program, network.loss), network.params, settings).learning_rate;
    MemoptOptions memopt = suited(parse_memopt(level), device_->info());
    memopt.pins.fetched = {network.loss};
    const Planned planned = plan_memory(std::move(program), prepared_, memopt);
    Executor executor(planned.program, planned.plan, prepared_, store);
    feed_tokens(executor, network, its());
    const double value = adamw["lr"];
    executor.feed(rate, &value, sizeof value);
    std::vector<double> losses;
    while (losses.size() < its()["losses"].size()) {
      executor.run();
      losses.push_back(executor.fetch_scalar(network.loss));
    }
    return losses;
  }
  /// The name of a tensor of ours in transformers' file: GPT-2's were published without the prefix that it has there.
  static std::string theirs(const std::string& name) {
    return its()["tensors"].contains(name) ? name : "transformer." + name;
  }
  /// The tensors of a file of ours by their names in transformers' file.
  std::map<std::string, std::vector<double>> exported(const Store& store, const Network& network) const {
    const std::string file = folder_.text() + "/exported.safetensors";
    save_weights(file, store, network, "huggingface");
    SafetensorsReader reader(file);
    std::map<std::string, std::vector<double>> all;
    for (const TensorEntry& tensor : reader.tensors()) {
      EXPECT_EQ(tensor.dtype, DType::f64);
      const std::string name = theirs(tensor.name);
      EXPECT_EQ(json(tensor.shape), its()["tensors"].value(name, json())) << name;
      const std::vector<std::byte> bytes = reader.read(tensor);
      const auto* const values = reinterpret_cast<const double*>(bytes.data());
      all[name].assign(values, values + bytes.size() / sizeof(double));
    }
    EXPECT_EQ(all.size(), its()["tensors"].size());
    return all;
  }

  const TemporaryFolder folder_;
  const std::unique_ptr<Device> device_ = open_cpu(1);
  Prepared prepared_{*device_};
};

TEST_P(HuggingFaceText, HasTheLogits) {
  const std::vector<double> ours = logits(its_sets());
  const std::vector<std::int64_t> rows = its()["rows"];
  const std::vector<std::vector<double>> theirs = its()["logits"];
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (std::size_t i = 0; i < theirs[row].size(); ++i)
      EXPECT_NEAR(ours[static_cast<std::size_t>(rows[row]) * theirs[row].size() + i], theirs[row][i], 1e-12) << row;
}

/// The config.json says what the settings do, but for the window of those whose positions have no table.
TEST_P(HuggingFaceText, IsFoundByItsConfig) {
  folder_.write("config.json", its()["config"].dump());
  ConfiguredNetwork found = read_config(folder_.text() + "/config.json");
  EXPECT_EQ(found.model, its()["model"]);
  const Sets by_hand = its_sets();
  found.sets["length"] = by_hand.at("length");
  EXPECT_EQ(network_id(setting(1, found.sets)), network_id(setting(1, by_hand)));
}

/// A setting that does nothing here would be held by nothing.
TEST_P(HuggingFaceText, NeedsEachSetting) {
  const Sets all = its_sets();
  const std::vector<double> right = logits(all);
  for (const auto& [var, value] : all) {
    if (var == "length") continue;
    Sets without = all;
    without.erase(var);
    SCOPED_TRACE(var);
    try {
      const std::vector<double> other = logits(without);
      double most = 0;
      for (std::size_t i = 0; i < right.size(); ++i) most = std::max(most, std::abs(other[i] - right[i]));
      EXPECT_GT(most, 1e-9);
    } catch (const Error&) {  // the file does not fit, or there is no such network
    }
  }
}

TEST_P(HuggingFaceText, HasNearlyTheLogitsInBf16) {
  const std::vector<double> exact = logits(its_sets());
  std::vector<double> error = logits(its_sets(), DType::bf16);
  for (std::size_t i = 0; i < error.size(); ++i) error[i] -= exact[i];
  EXPECT_LT(norm_of(error), 0.02 * norm_of(exact));
}

/// Whatever the memory stage does.
TEST_P(HuggingFaceText, TrainsAlike) {
  const Network network =
      load_network(its()["model"].get<std::string>(), {.batch = 2, .dtype = DType::f64, .training = true}, its_sets());
  const std::vector<double> theirs = its()["losses"];
  std::vector<double> ours;
  for (const char* const level : {"level=2", "none", "level=1,release"}) {
    Store store = loaded(network);
    const std::vector<double> losses = trained(network, level, store);
    if (ours.empty()) ours = losses;
    EXPECT_EQ(losses, ours) << level;
    for (const auto& [name, values] : exported(store, network)) {
      const double norm = its()["after"][name];
      EXPECT_NEAR(norm_of(values), norm, 1e-9 * norm) << name;
    }
  }
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t step = 0; step < ours.size(); ++step) EXPECT_NEAR(ours[step], theirs[step], 1e-10) << step;
}

TEST_P(HuggingFaceText, GivesItsWeightsBack) {
  const Network network = build_network(setting(1, its_sets()), false);
  const json& ones = its()["1+"];
  for (const auto& [name, values] : exported(loaded(network), network)) {
    const bool about_one = std::find(ones.begin(), ones.end(), name) != ones.end();
    const std::vector<float> made = made_weights(name, std::ssize(values), about_one ? 1 : 0);
    EXPECT_TRUE(std::equal(values.begin(), values.end(), made.begin(), made.end())) << name;
  }
}

/// With a cache and without.
TEST_P(HuggingFaceText, WritesTheSameText) {
  const NetworkSetting of = setting(1, its_sets());
  const Network window = build_network(of, false);
  const std::optional<DecodePrograms> programs = decode_programs(window, of, 4);
  ASSERT_TRUE(programs);
  Store store = loaded(window);
  const DecodePlans plans = plan_decode(*programs, memory(), prepared_);
  const Planned whole = plan_evaluation(window, memory(), prepared_);
  CachedLogits cached(*programs, plans, prepared_, store);
  WindowLogits recomputed(window, whole, prepared_, store);
  const std::vector<std::int32_t> theirs = its()["generated"];
  for (NextLogits* const next : std::initializer_list<NextLogits*>{&cached, &recomputed}) {
    std::vector<std::int32_t> text(theirs.begin(), theirs.begin() + its()["prompt"].get<std::ptrdiff_t>());
    while (text.size() < theirs.size()) {
      const std::vector<double> logits = next->after(text);
      text.push_back(static_cast<std::int32_t>(std::ranges::max_element(logits) - logits.begin()));
    }
    EXPECT_EQ(text, theirs);
  }
}

/// A run goes on only if its network is what it was, so vars that networks got later leave them as they were.
TEST(ProgramsOfTheZoo, AreThoseThatRunsKnow) {
  const std::map<std::string, std::string> known = {
      {"gpt2", "6f91b03868afc1f1"}, {"llama", "844fda05df8df902"}, {"tinyllama", "49783760cb062929"}};
  for (const auto& [model, id] : known) EXPECT_EQ(network_id({.model = model}), id) << model;
}

INSTANTIATE_TEST_SUITE_P(Families, HuggingFaceText,
                         ::testing::Range(std::size_t{0}, texts_of_transformers()["cases"].size()),
                         [](const auto& info) -> std::string {
                           return texts_of_transformers()["cases"][info.param]["name"];
                         });

}  // namespace
}  // namespace lethe::testing
