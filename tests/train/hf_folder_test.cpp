// A folder as Hugging Face has them, as a model of the command line.
#include "tests/train/hf_folder.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"
#include "tests/train/data_samples.h"
#include "tests/train/token_samples.h"
#include "train/options.h"
#include "train/session/library_weights.h"
#include "train/session/reading.h"
#include "train/session/safetensors.h"

namespace lethe::testing {
namespace {

namespace fs = std::filesystem;

json tiny_llama() {
  return {{"model_type", "llama"},         {"vocab_size", 96},         {"hidden_size", 8},
          {"num_attention_heads", 4},      {"num_key_value_heads", 2}, {"num_hidden_layers", 1},
          {"max_position_embeddings", 16}, {"intermediate_size", 12},  {"rms_norm_eps", 1e-5},
          {"tie_word_embeddings", false}};
}

TEST_F(HuggingFaceFolder, IsANetworkItsVarsAndItsWeights) {
  write_weights("m/model.safetensors");
  const std::string expected = score({"--model", "gpt2", "--set", "vocab=96,length=8,width=8,heads=2,layers=2",
                                      "--weights", path("m/model.safetensors")});
  EXPECT_NE(expected, "");
  EXPECT_EQ(score({"--model", folder()}), expected);
  EXPECT_EQ(score({"--weights", folder()}), expected);  // which says the model, too
  EXPECT_EQ(score({"--model", folder(), "--weights", path("m")}), expected);
  write_weights("other.safetensors", 8);
  const std::string other = score({"--model", folder(), "--weights", path("other.safetensors")});
  EXPECT_NE(other, expected);
  write_index(cut_into_shards());
  EXPECT_EQ(score({"--model", folder()}), expected);
  EXPECT_EQ(score({"--model", folder(), "--weights", path("m/model.safetensors.index.json")}), expected);
  const Ended exported =
      run_train({"export", "--weights", folder(), "--names", "huggingface", "--output", path("back.safetensors")});
  EXPECT_EQ(exported.code, 0) << exported.err;
  write_weights("again.safetensors");
  EXPECT_TRUE(bytes_in(path("back.safetensors")) == bytes_in(path("again.safetensors")));
  fs::create_directory(path("out"));  // with the config.json what is exported is a folder, too
  fs::copy(path("m/config.json"), path("out/config.json"));
  fs::rename(path("back.safetensors"), path("out/model.safetensors"));
  EXPECT_EQ(score({"--model", "hf:" + path("out")}), expected);
}

TEST_F(HuggingFaceFolder, OfGpt2MayBeReadInShorterWindows) {
  write_weights("m/model.safetensors");
  fs::create_directory(path("short"));
  json config = tiny_gpt2();
  config["n_positions"] = 4;
  write("short/config.json", config.dump());
  SafetensorsReader whole(path("m/model.safetensors"));
  std::vector<TensorEntry> tensors = whole.tensors();
  std::ranges::find(tensors, "wpe.weight", &TensorEntry::name)->shape[0] = 4;
  SafetensorsWriter writer(path("short/model.safetensors"), tensors);
  for (const TensorEntry& tensor : tensors) {
    std::vector<std::byte> values = whole.read(*whole.find(tensor.name));
    values.resize(static_cast<std::size_t>(tensor.bytes()));  // the first rows
    writer.write(values);
  }
  writer.finish();
  EXPECT_EQ(score({"--model", folder(), "--set", "length=4"}), score({"--model", "hf:" + path("short")}));
  EXPECT_EQ(run_train({"plan", "--model", folder(), "--context", "4"}).code, 0);
}

TEST_F(HuggingFaceFolder, OfGpt2HasTheTokenizerOfItsText) {
  json config = tiny_gpt2();
  config["vocab_size"] = 256 + kFewMerges.size() + 1;
  write("m/config.json", config.dump());
  write("m/vocab.json", vocabulary_json(kFewMerges));
  write("m/merges.txt", merges_text(kFewMerges));
  Sets sets = kTinyGpt2;
  sets["vocab"] = std::to_string(256 + kFewMerges.size() + 1);
  write_weights("m/model.safetensors", 7, sets);
  const auto written = [&](std::vector<std::string> more) {
    more.insert(more.begin(), "generate");
    more.insert(more.end(), {"--prompt", "low", "--tokens", "5", "--quiet"});
    const Ended ended = run_train(more);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.out;
  };
  const std::string text = written({"--model", folder()});
  EXPECT_EQ(text.rfind("low", 0), 0U) << text;
  EXPECT_EQ(text, written({"--model", folder(), "--tokenizer", path("m")}));
  const Ended plan = run_train({"generate", "--model", folder(), "--plan"});
  EXPECT_NE(plan.out.find("with a cache of 8 symbols"), std::string::npos) << plan.out << plan.err;
}

TEST_F(HuggingFaceFolder, SetComesFirst) {
  const Options options = parse_options({"show", "--model", folder(), "--set", "layers=1"});
  EXPECT_EQ(options.program.network.model, "gpt2");
  EXPECT_EQ(options.program.network.sets.at("layers"), "1");
  EXPECT_EQ(options.program.network.sets.at("width"), "8");
  EXPECT_EQ(options.program.network.sets.count("length"), 1U);
}

TEST_F(HuggingFaceFolder, ARunDoesNotNeedItLater) {
  write_weights("m/model.safetensors");
  const auto trained = [&](const std::string& run, const std::string& steps, std::vector<std::string> more) {
    more.insert(more.end(), {"--steps", steps, "--save-every", "1"});
    const Ended ended = run_train(on_text(more));
    EXPECT_EQ(ended.code, 0) << ended.err;
    return checkpoint_bytes(run + "/step-" + std::string(6 - steps.size(), '0') + steps);
  };
  const std::vector<std::string> begin = {"--model", folder(), "--save", path("a"), "--schedule", "constant"};
  const std::string whole = trained("a", "2", begin);
  ASSERT_FALSE(whole.empty());
  const std::vector<std::string> automatic = {"--model",    folder(),   "--save",   path("b"),
                                              "--schedule", "constant", "--resume", "auto"};
  const std::string first = trained("b", "1", automatic);
  EXPECT_TRUE(first == checkpoint_bytes("a/step-000001"));  // it begins with the folder's weights
  EXPECT_TRUE(trained("b", "2", automatic) == whole);       // and goes on with its own
  fs::rename(path("m"), path("gone"));
  const std::string later = trained("a", "3", {"--resume", path("a")});
  fs::rename(path("gone"), path("m"));
  EXPECT_TRUE(trained("b", "3", automatic) == later);
  fs::rename(path("m"), path("gone"));
  EXPECT_EQ(score({"--weights", path("a/step-000003")}), score({"--weights", path("b/step-000003")}));
}

TEST_F(HuggingFaceFolder, ARunMayBeginWithAFreshPartByACommandThatAlsoRestartsIt) {
  Sets longer = kTinyGpt2;
  longer["length"] = "12";
  write_weights("m/model.safetensors", 7, longer);  // more positions than config.json says
  const auto trained = [&](const std::string& steps, std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--model", folder(), "--save", path("a"), "--schedule", "constant", "--resume", "auto",
                             "--fresh", "positions.*", "--ignore", "wpe.weight", "--steps", steps});
    return run_train(on_text(more));
  };
  const Ended begun = trained("1");
  ASSERT_EQ(begun.code, 0) << begun.err;
  EXPECT_PRED2(says, begun.err, "made anew: positions.weight");
  const Ended on = trained("2");
  ASSERT_EQ(on.code, 0) << on.err;
  EXPECT_PRED2(says, on.err, "resumed from ");
  EXPECT_FALSE(says(on.err, "made anew")) << on.err;
  const Ended other = trained("3", {"--weights", path("none such")});
  EXPECT_EQ(other.code, 0) << "it counts when the run begins, too: " << other.err;
}

TEST_F(HuggingFaceFolder, WithoutWeightsItPlansAndTrainsFromNothingOnlyIfAsked) {
  EXPECT_EQ(run_train({"plan", "--model", folder()}).code, 0);
  const std::vector<std::string> train = on_text({"--model", folder(), "--steps", "1"});
  const Ended unasked = run_train(train);
  EXPECT_EQ(unasked.code, 4);
  EXPECT_NE(unasked.err.find("has no model.safetensors and no model.safetensors.index.json; --weights FILE takes"),
            std::string::npos)
      << unasked.err;
  std::vector<std::string> from_nothing = train;
  from_nothing.insert(from_nothing.end(), {"--weights", "none"});
  EXPECT_EQ(run_train(from_nothing).code, 0);
  write("m/pytorch_model.bin", "x");
  EXPECT_NE(run_train(train).err.find("only pytorch_model.bin; in Python, save_pretrained()"), std::string::npos);
  for (const std::string& weights : {folder(), path("m")}) {
    const Ended ended = run_train(on_text({"eval", "--model", "gpt2", "--weights", weights}));
    EXPECT_EQ(ended.code, 4);
    EXPECT_NE(ended.err.find("only pytorch_model.bin"), std::string::npos) << ended.err;
  }
  EXPECT_NE(run_train(on_text({"eval", "--model", folder()})).err.find("only pytorch_model.bin"), std::string::npos);
  EXPECT_EQ(run_train({"show", "--model", folder()}).code, 0);
  EXPECT_EQ(run_train({"generate", "--model", folder(), "--plan"}).code, 0);
  EXPECT_NE(run_train({"plan", "--model", "hf:" + path("none")}).err.find("no such directory"), std::string::npos);
  fs::remove(path("m/config.json"));
  const Ended ended = run_train({"plan", "--model", folder()});
  EXPECT_EQ(ended.code, 4);
  EXPECT_NE(ended.err.find("m/config.json"), std::string::npos) << ended.err;
}

TEST_F(HuggingFaceFolder, WrongLoadsAreRefusedByName) {
  const auto gpt2 = [&](const std::string& key, const json& value) { return refused(tiny_gpt2(), key, value); };
  const auto llama = [&](const std::string& key, const json& value) { return refused(tiny_llama(), key, value); };
  EXPECT_NE(gpt2("activation_function", "relu").find("'activation_function' is \"relu\", which gpt2.json does not"),
            std::string::npos);
  EXPECT_NE(gpt2("n_head", 3).find("'n_head' is 3; gpt2.json needs width % heads == 0"), std::string::npos);
  EXPECT_NE(gpt2("tie_word_embeddings", false).find("'tie_word_embeddings' is false, which gpt2.json does not honour"),
            std::string::npos);
  EXPECT_NE(gpt2("scale_attn_by_inverse_layer_idx", true).find("'scale_attn_by_inverse_layer_idx' is true"),
            std::string::npos);
  EXPECT_NE(gpt2("alibi", true).find("'alibi' is true, which gpt2.json does not honour"), std::string::npos);
  EXPECT_NE(gpt2("model_type", "gpt3").find("models of type 'gpt3'; did you mean 'gpt2'?; known: "), std::string::npos);
  EXPECT_NE(llama("sliding_window", 4096).find("'sliding_window' is 4096, which llama.json does not honour"),
            std::string::npos);
  EXPECT_NE(llama("rope_scaling", {{"type", "yarn"}, {"factor", 8.0}}).find("'rope_scaling.type' is \"yarn\""),
            std::string::npos);
  EXPECT_NE(llama("rope_parameters", {{"rope_type", "longrope"}}).find("'rope_parameters.rope_type' is \"longrope\""),
            std::string::npos);
  EXPECT_NE(llama("hidden_act", "gelu").find("'hidden_act' is \"gelu\", which llama.json does not"), std::string::npos);
  EXPECT_NE(llama("num_key_value_heads", 3).find("needs heads % kv_heads == 0"), std::string::npos);
  EXPECT_NE(refused(json::array()).find("says no 'model_type'"), std::string::npos);
  write("m/config.json", "not JSON");
  EXPECT_NE(run_train({"plan", "--model", folder()}).err.find("config.json:1:"), std::string::npos);
}

TEST_F(HuggingFaceFolder, PositionsAreABound) {
  write("m/config.json", tiny_llama().dump());
  const auto length_with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"plan", "--model", folder()});
    return parse_options(more).program.network.sets["length"];
  };
  EXPECT_EQ(length_with({}), "16");
  EXPECT_EQ(length_with({"--set", "length=8"}), "8");
  EXPECT_EQ(run_train({"plan", "--model", folder(), "--context", "4"}).code, 0);
  const std::string words = "length of 17 is more than 'max_position_embeddings' of ";
  EXPECT_TRUE(fails_with(words, [&] { length_with({"--set", "length=17"}); }));
  for (const char* length : {"17.0", "1.7e1"})
    EXPECT_TRUE(fails_with(message("length of ", length, " is more than 'max_position_embeddings' of "), [&] {
      length_with({"--set", message("length=", length)});
    }));
  EXPECT_TRUE(fails_with(words, [&] { length_with({"--context", "17"}); }));
  const Ended most = run_train({"plan", "--model", folder(), "--context", "auto", "--memory-budget", "1GiB"});
  EXPECT_NE(most.err.find("--context auto is 16:"), std::string::npos) << most.err;
  write("m/config.json", tiny_gpt2().dump());
  EXPECT_TRUE(fails_with("length of 9 is more than 'n_positions' of ", [&] { length_with({"--set", "length=9"}); }));
}

TEST_F(HuggingFaceFolder, AnIndexMustNameWhatItsFilesHave) {
  write_weights("m/model.safetensors");
  const json right = cut_into_shards();
  const auto wrong = [&](const json& index) {
    write_index(index);
    const Ended ended =
        run_train({"export", "--model", folder(), "--names", "huggingface", "--output", path("out.safetensors")});
    EXPECT_EQ(ended.code, 4) << ended.err;
    EXPECT_FALSE(fs::exists(path("out.safetensors")));
    return ended.err;
  };
  const auto with = [&](const std::string& tensor, const json& file) {
    json index = right;
    index["weight_map"][tensor] = file;
    return wrong(index);
  };
  const std::string norm = "ln_f.weight", its = right["weight_map"][norm].get<std::string>();
  const std::string other = its == "model-0.safetensors" ? "model-1.safetensors" : "model-0.safetensors";
  EXPECT_NE(with(norm, other).find("tensor 'ln_f.weight' is not in " + path("m/" + other)), std::string::npos);
  EXPECT_NE(with("none", its).find("tensor 'none' is not in "), std::string::npos);
  EXPECT_NE(with(norm, "model-9.safetensors").find("model-9.safetensors, in which 'ln_f.weight' is to be, is not"),
            std::string::npos);
  EXPECT_NE(with(norm, "../m/" + its).find("is no name of a file beside the index"), std::string::npos);
  EXPECT_NE(with(norm, "..").find("is no name of a file beside the index"), std::string::npos);
  EXPECT_NE(with(norm, 3).find("found 3, expected text"), std::string::npos);
  json without = right;
  without["weight_map"].erase(norm);
  EXPECT_NE(wrong(without).find("has the tensor 'ln_f.weight'"), std::string::npos);
  EXPECT_NE(wrong({{"weights", 1}}).find("'weight_map' is missing"), std::string::npos);
  write_index(right);
  write("m/" + its, "short");
  EXPECT_NE(run_train({"export", "--model", folder(), "--output", path("out.safetensors")}).err.find(its),
            std::string::npos);
}

/// Tensors of a network that are all made of the same number each; reading the next one means that the last is in the
/// store, so that no two of them are held beside it.
class WatchedReader final : public TensorReader {
 public:
  WatchedReader(const std::vector<StoredTensor>& all, const Store& store) : TensorReader("watched"), store_(store) {
    for (const StoredTensor& stored : all)
      tensors_.push_back({.name = stored.var.name, .dtype = stored.var.dtype, .shape = stored.var.shape});
  }
  ~WatchedReader() override { EXPECT_EQ(reads_, std::ssize(tensors_)); }

  std::vector<std::byte> read(const TensorEntry& tensor) override {
    EXPECT_TRUE(last_.empty() || store_.read(last_) == value_);
    last_ = tensor.name;
    value_.assign(static_cast<std::size_t>(tensor.bytes()), std::byte(++reads_));
    return value_;
  }

 private:
  const Store& store_;
  std::string last_ = {};
  std::vector<std::byte> value_ = {};
  std::int64_t reads_ = 0;
};

TEST(TensorsOfAFile, AreReadOneAfterTheOther) {
  const Network network = load_network("gpt2", {}, kTinyGpt2);
  const std::unique_ptr<Device> device = open_cpu(1);
  Store store(*device);
  store.add(network.program);
  std::vector<StoredTensor> all;
  for (const ParamInfo& info : network.params) {
    const Var& var = network.program.vars[info.var];
    all.push_back({.var = var, .names = {var.name}});
  }
  ASSERT_GT(all.size(), 20U);
  WatchedReader reader(all, store);
  load_tensors(reader, store, {.all = all});
}

}  // namespace
}  // namespace lethe::testing
