// Files beside merges that say by which rule these are to be read.
#include <gtest/gtest.h>

#include <set>

#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"
#include "tests/train/token_samples.h"
#include "train/data/folder_tokenizer.h"
#include "train/data/labelled_texts.h"

namespace lethe::testing {
namespace {

/// As GPT-2's tokenizer.json, but for what these say.
struct RuleTexts {
  std::string normalizer = "null";
  std::string pre_tokenizer = R"({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true})";
  std::string added = R"({"id": 264, "special": true, "content": "<|endoftext|>", "normalized": false})";
  std::string model = R"("dropout": null, "unk_token": null, "continuing_subword_prefix": "",
                         "end_of_word_suffix": "", "fuse_unk": false)";
};

std::string tokenizer_json(const RuleTexts& rules) {
  return message(R"({"version": "1.0", "truncation": null, "padding": null, "added_tokens": [)", rules.added,
                 R"(], "normalizer": )", rules.normalizer, R"(, "pre_tokenizer": )", rules.pre_tokenizer,
                 R"(, "post_processor": {"type": "ByteLevel", "add_prefix_space": true}, "model": {)", rules.model,
                 R"(, "vocab": )", vocabulary_json(kFewMerges), R"(, "merges": ["l o", ["lo", "w"]]}})");
}

class TokenizerRules : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.write("vocab.json", vocabulary_json(kFewMerges));
    folder_.write("merges.txt", merges_text(kFewMerges));
  }
  std::unique_ptr<Tokenizer> open() const { return open_folder_tokenizer(folder_.text()).tokenizer; }
  std::string of_gpt2() const { return open_pairs(pair_files_in(folder_.text()))->identity(); }
  std::string refused() const {
    return error_from([&] { open(); });
  }
  std::string refused(const RuleTexts& rules) const {
    folder_.write("tokenizer.json", tokenizer_json(rules));
    return refused();
  }

  TemporaryFolder folder_;
};

TEST_F(TokenizerRules, OfGpt2AreRead) {
  const RuleTexts gpt2, newer = {.pre_tokenizer = R"({"type": "ByteLevel", "use_regex": true})",
                                 .model = R"("type": "BPE", "byte_fallback": false, "ignore_merges": false)"};
  for (const RuleTexts& rules : {gpt2, newer}) {
    folder_.write("tokenizer.json", tokenizer_json(rules));
    for (const char* config : {R"({"model_max_length": 1024})", R"({"tokenizer_class": "GPT2TokenizerFast"})",
                               R"({"add_prefix_space": false, "tokenizer_class": "GPT2Tokenizer",
              "added_tokens_decoder": {"264": {"content": "<|endoftext|>", "special": true}}})"}) {
      folder_.write("tokenizer_config.json", std::string(config));
      EXPECT_EQ(open()->symbols_of("low").at(0), 257);
      EXPECT_EQ(open()->identity(), of_gpt2());
    }
  }
}

/// Each makes other tokens of some text than GPT-2's rule does, and runs tell them apart.
TEST_F(TokenizerRules, OfOtherFamiliesAreTakenFromTheirOwnFile) {
  std::set<std::string> identities = {of_gpt2()};
  const auto symbols_by = [&](const RuleTexts& rules, const std::string& text) {
    folder_.write("tokenizer.json", tokenizer_json(rules));
    identities.insert(open()->identity());
    return open()->symbols_of(text);
  };
  using Ids = std::vector<std::int32_t>;
  const Ids low_with_blank = {' ', 257};  // this file has two merges
  EXPECT_EQ(symbols_by({.pre_tokenizer = R"({"type": "ByteLevel", "add_prefix_space": true})"}, "low"), low_with_blank);
  EXPECT_EQ(symbols_by({.normalizer = R"({"type": "NFC"})"}, "e\u0301"), (Ids{0xc3, 0xa9}));
  EXPECT_EQ(symbols_by({.model = R"("ignore_merges": true)"}, "new"), Ids{261});
  EXPECT_EQ(
      symbols_by({.added = R"({"id": 265, "content": "  ", "special": false}, {"id": 264, "content": "<|endoftext|>",
                                     "special": true})"},
                 "a  b"),
      (Ids{'a', 265, 'b'}));
  EXPECT_EQ(symbols_by({.pre_tokenizer = R"({"type": "Sequence", "pretokenizers": [
      {"type": "Digits", "individual_digits": true}, {"type": "ByteLevel"}]})"},
                       "12"),
            (Ids{'1', '2'}));
  EXPECT_EQ(identities.size(), 6U);
}

TEST_F(TokenizerRules, ThatNobodyKnowsAreRefusedByName) {
  const std::string split = R"({"type": "Sequence", "pretokenizers": [
      {"type": "Split", "pattern": {"Regex": "\\d"}, "behavior": "Isolated", "invert": false},
      {"type": "ByteLevel", "use_regex": false}]})";
  EXPECT_EQ(refused({.pre_tokenizer = split}),
            folder_.text() +
                "/tokenizer.json: pre_tokenizer/pretokenizers/0/pattern/Regex is \"\\\\d\", which is not read (known: "
                "the expressions of GPT-2, Llama 3 and Qwen2)");
  EXPECT_PRED2(says, refused({.pre_tokenizer = "null"}), "normalizer is missing, which is not read (known: Replace");
  EXPECT_PRED2(says, refused({.pre_tokenizer = R"({"type": "ByteLevel", "use_regex": false})"}),
               "pre_tokenizer/use_regex is false, which is not read (known: true, or another rule before it)");
  EXPECT_PRED2(says, refused({.pre_tokenizer = R"({"type": "Whitespace"})"}),
               "pre_tokenizer/type is \"Whitespace\", which is not read (known: \"ByteLevel\", \"Metaspace\")");
  EXPECT_PRED2(says, refused({.normalizer = R"({"type": "Lowercase"})"}), "normalizer/type is \"Lowercase\", which");
  EXPECT_PRED2(says, refused({.model = R"("type": "Unigram")"}), "model/type is \"Unigram\", which");
  EXPECT_PRED2(says, refused({.model = R"("end_of_word_suffix": "</w>")"}), "model/end_of_word_suffix is \"</w>\"");
  EXPECT_PRED2(says, refused({.model = R"("continuing_subword_prefix": "##")"}), "model/continuing_subword_prefix is");
  EXPECT_PRED2(says, refused({.model = R"("byte_fallback": true)"}), "model/byte_fallback is true, which");
  EXPECT_PRED2(says, refused({.model = R"("dropout": 0.1)"}), "model/dropout is 0.1, which");
  EXPECT_PRED2(says, refused({.normalizer = R"({"type": "NFC"})", .model = R"("other": 7)"}),
               "model/other is 7, which is not read");
  EXPECT_PRED2(says, refused({.added = R"({"id": 265, "content": "x y", "single_word": true})"}),
               "added_tokens/0/single_word is true, which");
  EXPECT_PRED2(says, refused({.added = R"({"id": 270, "content": "x y"})"}), "token 'x y' has the number 270, but");
  EXPECT_PRED2(says, refused({.added = R"({"id": 3, "content": "<|endoftext|>"}, {"id": 1, "content": "b"})"}),
               "added_tokens/0/id is 3, which is not read (known: the vocabulary's 264)");
}

TEST_F(TokenizerRules, OfOtherClassesNeedTheirOwnFile) {
  const auto refused_with = [&](const char* config) {
    folder_.write("tokenizer_config.json", std::string(config));
    return refused();
  };
  EXPECT_PRED2(says, refused_with(R"({"tokenizer_class": "Qwen2Tokenizer"})"),
               "/tokenizer_config.json: tokenizer_class is \"Qwen2Tokenizer\", where GPT-2's files say "
               "\"GPT2Tokenizer\"; another rule is read from tokenizer.json, which is missing");
  EXPECT_PRED2(says, refused_with(R"({"add_prefix_space": true})"), "add_prefix_space is true, where");
  EXPECT_PRED2(says, refused_with(R"({"added_tokens_decoder": {"9": {"content": "\t\t", "special": false}}})"),
               "added_tokens_decoder: has the token '  ', which GPT-2's files have not");
  for (const char* bad : {"", "[1", "{\"a\": 1", "\xff"}) EXPECT_PRED2(says, refused_with(bad), "json: is no JSON");
  for (const char* odd : {"[1]", "5", R"({"added_tokens_decoder": 3})"}) {
    folder_.write("tokenizer_config.json", std::string(odd));
    EXPECT_EQ(open()->identity(), of_gpt2()) << odd << " says nothing of rules";
  }
}

TEST_F(TokenizerRules, OfOtherModelsNeedTheirOwnFile) {
  folder_.write("config.json", std::string(R"({"model_type": "gpt2"})"));
  folder_.write("added_tokens.json", std::string(R"({"<|endoftext|>": 264})"));
  EXPECT_EQ(open()->identity(), of_gpt2());
  folder_.write("added_tokens.json", std::string(R"({"<|im_end|>": 265})"));
  EXPECT_PRED2(says, refused(),
               "/added_tokens.json: has the token '<|im_end|>', which GPT-2's files have not; another");
  std::filesystem::remove(folder_.path() / "added_tokens.json");
  folder_.write("config.json", std::string(R"({"model_type": "qwen2"})"));
  EXPECT_PRED2(says, refused(),
               "/config.json: model_type is \"qwen2\", where GPT-2's files say \"gpt2\"; another rule");
  folder_.write("tokenizer.json", tokenizer_json({}));
  EXPECT_EQ(open()->identity(), of_gpt2()) << "a tokenizer.json says more of the rule than the model's type";
}

TEST_F(TokenizerRules, HoldWhereverMergesAreRead) {
  folder_.write("tokenizer_config.json", std::string(R"({"tokenizer_class": "CodeGenTokenizer"})"));
  folder_.write("train.tsv", std::string("0\tlow\n1\tlower low\n"));
  folder_.write("test.tsv", std::string("1\tz\n"));
  EXPECT_PRED2(says, error_from([&] {
                 open_labelled_texts("tsv:" + folder_.text() + ",tokenizer=" + folder_.text(), 4, 300, 2, 0);
               }),
               "tokenizer_class is \"CodeGenTokenizer\"");
  const Ended ended = run_train(
      {"tokenize", folder_.text() + "/test.tsv", "--tokenizer", folder_.text(), "--out", folder_.text() + "/out"});
  EXPECT_EQ(ended.code, 4);
  EXPECT_PRED2(says, ended.err, "tokenizer_class is \"CodeGenTokenizer\"");
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "out"));
}

}  // namespace
}  // namespace lethe::testing
