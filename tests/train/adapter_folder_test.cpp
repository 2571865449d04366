// Folders of Hugging Face's PEFT on the command line: written by a run, read beside their base, refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/train/data_samples.h"
#include "tests/train/hf_folder.h"
#include "train/data/checksum.h"
#include "train/session/adapter_config.h"
#include "train/session/run_state.h"

namespace lethe::testing {
namespace {

using Words = std::vector<std::string>;

Words joined_words(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

class AdapterFolder : public HuggingFaceFolder {
 protected:
  void SetUp() override {
    HuggingFaceFolder::SetUp();
    write_weights("m/model.safetensors");
    tune("run", {"--lora", "r=2,alpha=6", "--lora-targets", "c_attn,c_proj=3/5", "--lora-train", "ln_f.*"});
    ok({"export", "--weights", path("run"), "--lora", "--output", path("a")});
  }
  Ended ok(const Words& words) const {
    Ended ended = run_train(words);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended;
  }
  Ended tune(const std::string& run, const Words& more, const std::string& steps = "3") const {
    return ok(on_text(joined_words({"--model", folder(), "--batch", "4", "--steps", steps, "--optimizer", "adamw",
                                    "--lr", "0.05", "--save", path(run)},
                                   more)));
  }
  json config() const { return json::parse(bytes_in(path("a/adapter_config.json"))); }
  Words names_in(const std::string& file) const {
    Words names;
    const SafetensorsReader reader(path(file));
    for (const TensorEntry& tensor : reader.tensors()) names.push_back(tensor.name);
    std::ranges::sort(names);
    return names;
  }
  /// In batches of the run's size: the mean of others is rounded in another place.
  double loss(const Words& more) const {
    Words words = more;
    words.insert(words.end(), {"--batch", "4", "--dtype", "f64", "--format", "json"});
    return json::parse(score(words)).at("loss");
  }
  /// Writes the adapter's tensors anew, changed.
  void change_tensors(const std::function<void(std::vector<TensorEntry>&)>& change) const {
    std::vector<TensorEntry> tensors;
    {
      const SafetensorsReader reader(path("a/adapter_model.safetensors"));
      tensors = reader.tensors();
    }
    change(tensors);
    SafetensorsWriter writer(path("b/adapter_model.safetensors"), tensors);
    for (const TensorEntry& tensor : tensors)
      writer.write(std::vector<std::byte>(static_cast<std::size_t>(tensor.bytes())));
    writer.finish();
  }
  /// What reading the adapter `b` says; all of it is a fault of data.
  std::string refused(int code = 4) const {
    const Ended ended = run_train(on_text({"eval", "--model", folder(), "--adapter", path("b")}));
    EXPECT_EQ(ended.code, code) << ended.err;
    return ended.err;
  }
  std::string refused_config(const std::string& key, const json& value) const {
    json changed = config();
    changed[key] = value;
    std::filesystem::create_directory(home_ / "b");
    std::filesystem::copy_file(path("a/adapter_model.safetensors"), path("b/adapter_model.safetensors"),
                               std::filesystem::copy_options::overwrite_existing);
    write("b/adapter_config.json", changed.dump());
    return refused();
  }
};

TEST_F(AdapterFolder, HoldsWhatTrained) {
  const std::string h = "base_model.model.transformer.h.";
  Words expected = {"base_model.model.transformer.ln_f.bias", "base_model.model.transformer.ln_f.weight"};
  for (const char* layer : {"0", "1"})
    for (const char* module : {".attn.c_attn", ".attn.c_proj", ".mlp.c_proj"})
      for (const char* part : {".lora_A.weight", ".lora_B.weight"}) expected.push_back(h + layer + module + part);
  std::ranges::sort(expected);
  EXPECT_EQ(names_in("a/adapter_model.safetensors"), expected);
  const json its = config();
  EXPECT_EQ(its.at("target_modules"), (json{"c_attn", "c_proj"}));
  EXPECT_EQ(its.at("modules_to_save"), json{"transformer.ln_f"});
  EXPECT_EQ(its.at("fan_in_fan_out"), true);
  EXPECT_EQ(its.at("task_type"), "CAUSAL_LM");
  EXPECT_EQ(its.at("base_model_name_or_path"), path("m"));
  EXPECT_EQ(its.at("bias"), "none");
}

/// The checkpoint knows the base by its SHA-256.
TEST_F(AdapterFolder, IsAllThatACheckpointHolds) {
  const RunState state = read_state(path("run/latest"));
  ASSERT_EQ(state.elsewhere.size(), 1U);
  EXPECT_EQ(state.elsewhere[0].files, Words{path("m/model.safetensors")});
  EXPECT_EQ(state.elsewhere[0].sha256, Words{sha256_of_file(path("m/model.safetensors"))});
  for (const std::string& name : names_in("run/weights.safetensors"))
    EXPECT_TRUE(name.find(".lora_") != std::string::npos || name.starts_with("norm.")) << name;
}

TEST_F(AdapterFolder, ComputesWhatItsRunDoes) {
  const double of_run = loss({"--weights", path("run")});
  EXPECT_GT(std::abs(loss({"--model", folder()}) - of_run), 1e-5);
  EXPECT_EQ(loss({"--model", folder(), "--adapter", path("a")}), of_run);
  EXPECT_EQ(loss({"--model", folder(), "--weights", path("a")}), of_run);
  EXPECT_EQ(loss({"--weights", path("a")}), of_run);              // its config says where the base is
  EXPECT_EQ(loss({"--weights", path("run"), "--lora"}), of_run);  // without words: those that there are
  EXPECT_EQ(loss({"--model", folder(), "--adapter", path("a"), "--lora"}), of_run);
  for (const char* names : {"", "huggingface"}) {
    Words words = {"export",  "--weights", path("run"), "--merge", "--output", path("merged.safetensors"),
                   "--dtype", "f64"};
    if (*names) words.insert(words.end(), {"--names", names});
    ok(words);
    EXPECT_NEAR(loss({"--model", folder(), "--weights", path("merged.safetensors")}), of_run, 1e-8) << names;
  }
  ok({"export", "--model", folder(), "--adapter", path("a"), "--merge", "--output", path("again.safetensors")});
  ok({"export", "--weights", path("run"), "--merge", "--output", path("merged.safetensors")});
  EXPECT_TRUE(bytes_in(path("again.safetensors")) == bytes_in(path("merged.safetensors")));
  ok({"export", "--model", folder(), "--adapter", path("a"), "--lora", "--output", path("back")});
  for (const char* file : {"/adapter_config.json", "/adapter_model.safetensors"})
    EXPECT_TRUE(bytes_in(path("back") + file) == bytes_in(path("a") + file)) << file;
}

TEST_F(AdapterFolder, IsTrainedOn) {
  const Words on = {"--adapter", path("a"), "--seed", "3"};
  tune("whole", on, "4");
  tune("half", on, "2");
  ok({"--resume", path("half"), "--steps", "4", "--threads", "1"});
  EXPECT_TRUE(checkpoint_bytes("half") == checkpoint_bytes("whole"));
  tune("level", joined_words(on, {"--memopt", "none"}), "4");
  EXPECT_TRUE(checkpoint_bytes("level") == checkpoint_bytes("whole"));
  ok({"export", "--weights", path("half"), "--lora", "--output", path("more")});
  EXPECT_EQ(names_in("more/adapter_model.safetensors"), names_in("a/adapter_model.safetensors"));
  EXPECT_NE(loss({"--model", folder(), "--adapter", path("more")}),
            loss({"--model", folder(), "--adapter", path("a")}));
}

TEST_F(AdapterFolder, RefusesOtherMathematics) {
  const auto expect = [&](const char* key, const json& value, const char* words) {
    EXPECT_PRED2(says, refused_config(key, value), words) << key;
  };
  expect("peft_type", "LOHA", "found \"LOHA\", expected \"LORA\"");
  expect("use_dora", true, "'use_dora' is true, which is not known here, and the adapter would be another");
  expect("lora_bias", true, "'lora_bias' is true");
  expect("bias", "all", "found \"all\", expected \"none\"");
  expect("layers_to_transform", json{0}, "'layers_to_transform' is [0]");
  expect("target_parameters", json{"h.0.attn.c_attn.weight"}, "'target_parameters' is ");
  expect("trainable_token_indices", json{1}, "'trainable_token_indices' is [1]");
  expect("exclude_modules", json{"c_fc"}, "'exclude_modules' is ");
  expect("init_lora_weights", "pissa", "found \"pissa\", which changes the base, too");
  expect("lora_alfa", 3,
         "'lora_alfa' is 3, which is not known here, and the adapter would be another; did you mean 'lora_alpha'?");
  expect("target_modules", ".*c_attn", "a regular expression; expected a list of modules' names");
  expect("target_modules", json{"c_atn"}, "no layer is called 'c_atn'; did you mean 'c_attn'?");
  expect("target_modules", json{"lm_head", "c_attn"}, "'lm_head' can have no adapter");
  expect("target_modules", nullptr, "says no 'target_modules'");
  expect("r", 0, "found 0, expected a rank");
  expect("lora_alpha", 0, "found 0, expected a number above 0");
  expect("lora_dropout", 1, "expected a share below 1");
  expect("rank_pattern", json{{"h\\.[0-9]+\\.attn", 3}}, "no other patterns are known");
  expect("modules_to_save", json{"ln_g"}, "'modules_to_save' has 'ln_g', and gpt2 no such module");
}

TEST_F(AdapterFolder, HasTheRankOfTheFirstPatternThatMeansIt) {
  write("c.json", R"({"peft_type": "LORA", "target_modules": ["c_attn"], "rank_pattern":
                      {"h.1.attn.c_attn": 3, "c_attn": 5, "attn.c_attn": 7}})");
  const Network network = load_network("gpt2", {}, kTinyGpt2);
  const std::vector<Adapter> adapters =
      adapters_of(network, lora_of(read_adapter_config(path("c.json")), network, "c.json"));
  ASSERT_EQ(adapters.size(), 2U);
  EXPECT_EQ(adapters[0].rank, 5);
  EXPECT_EQ(adapters[1].rank, 3);
}

TEST_F(AdapterFolder, IsReadWholeOrNotAtAll) {
  std::filesystem::create_directory(home_ / "b");
  write("b/adapter_config.json", config().dump());
  EXPECT_PRED2(says, refused(), "has no adapter_model.safetensors");
  const std::string lost = "base_model.model.transformer.h.1.attn.c_attn.lora_B.weight";
  const auto at = [&](std::vector<TensorEntry>& tensors) {
    return std::ranges::find(tensors, lost, &TensorEntry::name);
  };
  change_tensors([&](auto& tensors) { tensors.erase(at(tensors)); });
  EXPECT_PRED2(says, refused(), "missing '" + lost + "'");
  change_tensors(
      [&](auto& tensors) { at(tensors)->name = "base_model.model.transformer.h.1.attn.c_attn.lora_B.default.weight"; });
  EXPECT_PRED2(says, refused(), "unexpected 'base_model.model.transformer.h.1.attn.c_attn.lora_B.default.weight'");
  change_tensors([&](auto& tensors) { at(tensors)->shape = {24, 3}; });
  EXPECT_PRED2(says, refused(), "tensor '" + lost + "' is f32[24,3], expected f32[24,2]");
  change_tensors([&](auto& tensors) {
    tensors.push_back({.name = "base_model.model.transformer.h.0.attn.c_attn.lora_magnitude_vector", .shape = {24}});
  });
  EXPECT_PRED2(says, refused(), "unexpected 'base_model.model.transformer.h.0.attn.c_attn.lora_magnitude_vector'");
  change_tensors([&](auto& tensors) {
    tensors.push_back({.name = "base_model.model.transformer.wte.base_layer.weight", .shape = {96, 8}});
  });
  EXPECT_PRED2(says, refused(), "has other values than the base");
}

TEST_F(AdapterFolder, KnowsItsBase) {
  write_weights("m/model.safetensors", 8);
  std::filesystem::copy(path("a"), path("b"));
  EXPECT_PRED2(says, refused(), "was made beside a base of SHA-256 ");
  const Ended ended = run_train(on_text({"eval", "--weights", path("run")}));
  EXPECT_EQ(ended.code, 4);
  EXPECT_PRED2(says, ended.err, "m/model.safetensors: has changed, its SHA-256 is ");
}

TEST_F(AdapterFolder, RefusesWhatDoesNotGoTogether) {
  const auto says_of = [&](const Words& words) {
    const Ended ended = run_train(words);
    EXPECT_EQ(ended.code, 2) << ended.err;
    return ended.err;
  };
  const Words eval = on_text({"eval", "--model", folder(), "--adapter", path("a")});
  EXPECT_PRED2(says, says_of(joined_words(eval, {"--lora", "r=4"})), "--lora r=4: --adapter ");
  EXPECT_PRED2(says, says_of(on_text({"eval", "--weights", path("run"), "--adapter", path("a")})),
               "has adapters of its own");
  EXPECT_PRED2(says, says_of({"--resume", path("run"), "--adapter", path("a")}), "--resume excludes --adapter");
  EXPECT_PRED2(says, says_of(on_text({"eval", "--weights", path("run"), "--lora", "r=2,alpha=7"})),
               " has r=2,alpha=6; its adapters are no others");
  EXPECT_PRED2(says, says_of(on_text({"--model", folder(), "--weights", path("run"), "--lora"})),
               "--lora: the run in ");
  const Words out = {"--output", path("x")};
  EXPECT_PRED2(says, says_of(joined_words({"export", "--weights", path("run"), "--names", "huggingface"}, out)),
               "these names have no place for adapters; --merge ");
  EXPECT_PRED2(says, says_of(joined_words({"export", "--weights", path("run"), "--lora", "--merge"}, out)),
               "one of them");
  EXPECT_PRED2(says, says_of(joined_words({"export", "--model", folder(), "--merge"}, out)), "has no adapters");
  EXPECT_PRED2(says, says_of(joined_words({"export", "--model", folder(), "--lora"}, out)), "has no adapters");
  EXPECT_FALSE(std::filesystem::exists(path("x")));
  tune("tied", {"--lora", "r=2", "--lora-targets", "wte"});
  EXPECT_PRED2(says, says_of(joined_words({"export", "--weights", path("tied"), "--merge"}, out)),
               "'tokens.weight' is the weight of two layers, of which one has an adapter");
  tune("beside", {"--lora", "r=2", "--lora-train", "*c_attn.bias"});
  EXPECT_PRED2(says, says_of(joined_words({"export", "--weights", path("beside"), "--lora"}, out)),
               "has an adapter, and PEFT none beside what else trains of a module");
}

}  // namespace
}  // namespace lethe::testing
