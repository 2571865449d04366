// Commands with the tokenizer of a folder: a run remembers it, and who takes its weights need not name it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/train/data_samples.h"
#include "tests/train/hf_folder.h"
#include "tests/train/run_fixture.h"
#include "tests/train/token_samples.h"
#include "train/data/folder_tokenizer.h"
#include "train/data/token_shard.h"
#include "train/session/run_state.h"

namespace lethe::testing {
namespace {

const std::string kFolders = LETHE_SOURCE_DIR "/tests/oracles/tokens/";

/// Each token says which comes next.
constexpr const char* kTableOfTokens = R"({
  "version": 1, "name": "tokens", "vars": {"vocab": 620, "length": 8},
  "inputs": {"text": {"shape": ["=length"], "dtype": "i32"}, "next": {"shape": ["=length"], "dtype": "i32"}},
  "layers": [{"op": "embedding", "vocab": "=vocab", "out": "=vocab", "name": "table"}],
  "loss": [{"op": "cross_entropy", "in": "table", "target": "next"}],
  "train": {"batch": 4, "steps": 40, "lr": 8}
})";
constexpr const char* kLabelOfTokens = R"({
  "version": 1, "name": "texts", "vars": {"vocab": 399, "length": 6, "classes": 2},
  "inputs": {"text": {"shape": ["=length"], "dtype": "i32"}, "label": {"shape": [], "dtype": "i32"}},
  "layers": [{"op": "embedding", "vocab": "=vocab", "out": 8}, {"op": "flatten"},
             {"op": "fc", "out": "=classes", "name": "logits"}],
  "loss": [{"op": "cross_entropy", "in": "logits", "target": "label"}],
  "train": {"batch": 4, "steps": 60, "lr": 0.5}
})";

class FolderText : public RunTest {
 protected:
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }
  static std::string out_of(std::vector<std::string> args) {
    if (args[0] != "tokenize") args.insert(args.end(), {"--threads", "1"});
    const Ended ended = run_train(args);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.out;
  }
  static std::string refusal_of(std::vector<std::string> args) {
    const Ended ended = run_train(args);
    EXPECT_EQ(ended.code, 4) << ended.out << ended.err;
    return ended.err;
  }
};

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST_F(FolderText, IsOfTheRunFromThenOn) {
  const std::string network = write("tokens.json", kTableOfTokens);
  const std::string text = write("a.txt", repeated("the quick brown fox \u6211\u4eec ", 60));
  out_of({"--model", network, "--data", "text:" + text, "--tokenizer", kFolders + "llama2", "--save", path("run")});
  EXPECT_PRED2(says, read_state(path("run")).meaning.tokenizer, "sentencepiece of 620 tokens, checksum ");
  std::filesystem::remove(text);
  const std::vector<std::string> generate = {"generate", "--weights", path("run"),     "--prompt", "the",
                                             "--tokens", "12",        "--temperature", "0",        "--quiet"};
  EXPECT_PRED2(says, out_of(generate), "the quick brown fox \u6211\u4eec ");
  const std::string other = write("b.txt", repeated("the quick brown fox ", 60));
  EXPECT_PRED2(says, out_of({"eval", "--weights", path("run"), "--data", "text:" + other}), "acc 0.7500");
  std::vector<std::string> by_other = generate;
  by_other.insert(by_other.end(), {"--tokenizer", kFolders + "metaspace"});
  EXPECT_PRED2(
      says, refusal_of(by_other),
      "metaspace: no such directory, which is to have the files of a tokenizer; --tokenizer DIR names another");
  by_other.back() = kFolders + "pieces";
  EXPECT_PRED2(says, refusal_of(by_other), "those of the run for sentencepiece of 620 tokens");
}

TEST_F(FolderText, OfTokensIsTheOneThatMadeThem) {
  const std::string network = write("tokens.json", kTableOfTokens), text = write("a.txt", repeated("a 12 b ", 200));
  out_of({"tokenize", text, "--tokenizer", kFolders + "llama3", "--out", path("made")});
  const std::vector<TokenShard> shards = open_shards(path("made"), Split::Train);
  EXPECT_EQ(shards.at(0).token(0), 442) << "<|begin_of_text|>";
  EXPECT_EQ(shards.at(0).header().end, 443U);
  EXPECT_EQ(open_tokenizer(shards.at(0).header().kind, path("made"))->identity(),
            open_folder_tokenizer(kFolders + "llama3").tokenizer->identity());
  const std::vector<std::string> train = {"--model", network, "--data", "tokens:" + path("made"), "--steps", "1"};
  std::vector<std::string> same = train, other = train;
  same.insert(same.end(), {"--tokenizer", kFolders + "llama3"});
  out_of(same);
  other.insert(other.end(), {"--tokenizer", kFolders + "smollm2"});
  EXPECT_PRED2(says, refusal_of(other), "tokens: are those of bpe of 444 tokens, checksum ");
  other.back() = path("none");  // which keeps nobody from tokens that are made
  const Ended unknown = run_train(other);
  EXPECT_EQ(unknown.code, 0) << unknown.err;
  EXPECT_PRED2(says, unknown.err, "note: whether the tokens are those of the model's tokenizer is unknown: ");
}

TEST_F(FolderText, HasLabelsByBertsPieces) {
  std::string rows;
  for (int i = 0; i < 40; ++i) rows += i % 2 ? "x\tthe tokens\n" : "y\tThe text\n";
  const std::string network = write("texts.json", kLabelOfTokens), table = write("a.tsv", rows);
  out_of({"--model", network, "--data", "tsv:" + table, "--tokenizer", kFolders + "bert", "--save", path("run")});
  std::filesystem::remove(table);
  const std::string texts = write("what.txt", "THE TEXT\nthe tokens\n");
  const std::string said = out_of({"predict", "--weights", path("run"), texts, "--top", "1"});
  EXPECT_PRED2(says, said, "what.txt:1  y");
  EXPECT_PRED2(says, said, "what.txt:2  x");
}

/// Without being told: the folder of a model has its tokenizer, too, which the run keeps.
TEST_F(FolderText, IsOfAModelsFolder) {
  std::filesystem::create_directory(path("m"));
  write("m/config.json", R"({"model_type": "llama", "vocab_size": 620, "hidden_size": 8, "num_attention_heads": 4,
                             "num_key_value_heads": 2, "num_hidden_layers": 1, "max_position_embeddings": 16,
                             "intermediate_size": 12, "rms_norm_eps": 1e-5, "tie_word_embeddings": false})");
  std::filesystem::copy(kFolders + "llama2/tokenizer.json", path("m/tokenizer.json"));
  const std::string text = write("a.txt", repeated("the quick brown fox ", 60));
  out_of({"--model", "hf:" + path("m"), "--weights", "none", "--set", "length=8", "--data", "text:" + text, "--steps",
          "2", "--batch", "2", "--save", path("run")});
  EXPECT_PRED2(says, read_state(path("run")).meaning.tokenizer, "sentencepiece of 620 tokens, checksum ");
  EXPECT_PRED2(says, out_of({"generate", "--weights", path("run"), "--prompt", "the", "--tokens", "3", "--quiet"}),
               "the");
  out_of({"eval", "--weights", path("run"), "--data", "text:" + text});
}

/// Characters are numbered by each text in its own way, so trained weights cannot know them.
TEST_F(HuggingFaceFolder, ReadsNoTextWithoutItsTokenizer) {
  write_weights("m/model.safetensors");
  write("m/tekken.json", "{}");
  write("a.tsv", "x\tlow\n");
  const std::string text = "text:" + path("text.txt");
  const auto refused_with = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--threads", "1"});
    const Ended ended = run_train(more);
    EXPECT_EQ(ended.code, 4) << ended.err;
    return ended.err;
  };
  for (const std::string& data : {text, "tsv:" + path("a.tsv")})
    EXPECT_PRED2(says, refused_with({"eval", "--model", folder(), "--data", data}),
                 "m: has no tokenizer: none of tokenizer.json, tokenizer.model, vocab.txt, and vocab.json with "
                 "merges.txt; --tokenizer DIR names one, without which " +
                     data + " is read by characters");
  EXPECT_PRED2(says, refused_with({"--model", folder(), "--data", text, "--steps", "1"}), "; --tokenizer DIR names");
  EXPECT_PRED2(says, refused_with({"eval", "--weights", folder(), "--data", text}), "; --tokenizer DIR names");
  const std::vector<std::string> from_nothing = {"--model", folder(),  "--weights", "none",      "--data",
                                                 text,      "--steps", "1",         "--threads", "1"};
  EXPECT_EQ(run_train(from_nothing).code, 0);
  const std::vector<std::string> named = {"eval",        "--model", folder(),    "--data", text,
                                          "--tokenizer", path("t"), "--threads", "1"};
  EXPECT_EQ(run_train(named).out, score({"--model", folder()}));
}

TEST_F(HuggingFaceFolder, OfAnotherFamilyIsNotCutByGpt2sRule) {
  write("m/config.json", R"({"model_type": "qwen2", "vocab_size": 96, "hidden_size": 8, "num_attention_heads": 4,
                             "num_key_value_heads": 2, "num_hidden_layers": 1, "max_position_embeddings": 16,
                             "intermediate_size": 12, "rms_norm_eps": 1e-5, "tie_word_embeddings": false})");
  write("m/model.safetensors", "x");
  write("m/vocab.json", vocabulary_json(kFewMerges));
  write("m/merges.txt", merges_text(kFewMerges));
  const Ended ended = run_train({"eval", "--model", folder(), "--data", "text:" + path("text.txt"), "--threads", "1"});
  EXPECT_EQ(ended.code, 4);
  EXPECT_PRED2(says, ended.err,
               "m/config.json: model_type is \"qwen2\", where GPT-2's files say \"gpt2\"; another "
               "rule is read from tokenizer.json, which is missing");
}

/// Symbol 0 of a text with one label is padding, so that other tokenizers' numbers are raised by one.
TEST_F(HuggingFaceFolder, OfBertTakesWordPiecesAlone) {
  write("m/config.json", R"({"model_type": "bert", "vocab_size": 96, "hidden_size": 8, "num_attention_heads": 2,
      "num_hidden_layers": 1, "intermediate_size": 12, "max_position_embeddings": 16, "hidden_act": "gelu",
      "attention_probs_dropout_prob": 0.0, "hidden_dropout_prob": 0.0})");
  write("m/model.safetensors", "x");
  write("what.txt", "the quick\n");
  write("a.tsv", "x\tthe quick\n");
  const auto refused_with = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--model", folder()});
    const Ended ended = run_train(more);
    EXPECT_EQ(ended.code, 4) << ended.err;
    return ended.err;
  };
  const std::string words = ": its weights take BERT's word pieces, of which token 0 is padding; " + path("t") +
                            " makes sentencepiece of 39 tokens";
  EXPECT_PRED2(says, refused_with({"eval", "--data", "tsv:" + path("a.tsv"), "--tokenizer", path("t")}), words);
  EXPECT_PRED2(says, refused_with({"eval", "--data", "tsv:" + path("a.tsv") + ",tokenizer=" + path("t")}), words);
  std::filesystem::copy(path("t/tokenizer.json"), path("m/tokenizer.json"));
  EXPECT_PRED2(says, refused_with({"predict", path("what.txt"), "--embed"}), path("m") + " makes sentencepiece");
  EXPECT_PRED2(says, refused_with({"--data", "tsv:" + path("a.tsv"), "--steps", "1"}), "take BERT's word pieces");
}

TEST_F(HuggingFaceFolder, MayHaveCommasInItsName) {
  write_weights("m/model.safetensors");
  const std::string expected = score({"--model", folder()});
  std::filesystem::rename(path("m"), path("g,2=x y"));
  std::filesystem::copy(path("t/tokenizer.json"), path("g,2=x y/tokenizer.json"));
  const Ended ended =
      run_train({"eval", "--model", "hf:" + path("g,2=x y"), "--data", "text:" + path("text.txt"), "--threads", "1"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, expected);
}

}  // namespace
}  // namespace lethe::testing
