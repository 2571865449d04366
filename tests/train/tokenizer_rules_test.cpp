// Files beside merges that say by which rule these are to be read.
#include <gtest/gtest.h>

#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"
#include "tests/train/token_samples.h"
#include "train/data/labelled_texts.h"
#include "train/data/tokenizer.h"

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
  std::int32_t token_of_low() const { return open_pairs(pair_files_in(folder_.text()))->symbols_of("low").at(0); }
  std::string refused() const {
    return error_from([&] { pair_files_in(folder_.text()); });
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
      EXPECT_EQ(token_of_low(), 257);
    }
  }
}

TEST_F(TokenizerRules, OfOtherFamiliesAreRefusedByName) {
  const std::string split = R"({"type": "Sequence", "pretokenizers": [{"type": "Split"}, {"type": "ByteLevel"}]})";
  EXPECT_EQ(refused({.pre_tokenizer = split}),
            folder_.text() +
                "/tokenizer.json: pre_tokenizer/type is \"Sequence\", where GPT-2's files say "
                "\"ByteLevel\"; merges are read by GPT-2's rule alone");
  EXPECT_PRED2(says, refused({.pre_tokenizer = "null"}), "pre_tokenizer/type is missing, where");
  EXPECT_PRED2(says, refused({.pre_tokenizer = R"({"type": "ByteLevel", "add_prefix_space": true})"}),
               "pre_tokenizer/add_prefix_space is true, where GPT-2's files say false");
  EXPECT_PRED2(says, refused({.pre_tokenizer = R"({"type": "ByteLevel", "use_regex": false})"}),
               "pre_tokenizer/use_regex is false, where GPT-2's files say true");
  EXPECT_PRED2(says, refused({.normalizer = R"({"type": "NFC"})"}), "normalizer is {\"type\":\"NFC\"}, where");
  EXPECT_PRED2(says, refused({.model = R"("type": "Unigram")"}), "model/type is \"Unigram\", where");
  EXPECT_PRED2(says, refused({.model = R"("end_of_word_suffix": "</w>")"}), "model/end_of_word_suffix is \"</w>\"");
  EXPECT_PRED2(says, refused({.model = R"("continuing_subword_prefix": "##")"}), "model/continuing_subword_prefix is");
  EXPECT_PRED2(says, refused({.model = R"("ignore_merges": true)"}), "model/ignore_merges is true, where");
  EXPECT_PRED2(says, refused({.model = R"("byte_fallback": true)"}), "model/byte_fallback is true, where");
  EXPECT_PRED2(says, refused({.model = R"("dropout": 0.1)"}), "model/dropout is 0.1, where");
  EXPECT_PRED2(says, refused({.added = R"({"id": 265, "content": "  ", "special": false})"}),
               "added_tokens: finds the token '  ' in texts, which no merge makes");
}

TEST_F(TokenizerRules, OfOtherClassesAreRefusedByName) {
  const auto refused_with = [&](const char* config) {
    folder_.write("tokenizer_config.json", std::string(config));
    return refused();
  };
  EXPECT_PRED2(says, refused_with(R"({"tokenizer_class": "Qwen2Tokenizer"})"),
               "/tokenizer_config.json: tokenizer_class is \"Qwen2Tokenizer\", where GPT-2's files say "
               "\"GPT2Tokenizer\"");
  EXPECT_PRED2(says, refused_with(R"({"add_prefix_space": true})"), "add_prefix_space is true, where");
  EXPECT_PRED2(says, refused_with(R"({"added_tokens_decoder": {"9": {"content": "\t\t", "special": false}}})"),
               "added_tokens_decoder: finds the token '  ' in texts");
  for (const char* bad : {"", "[1", "{\"a\": 1", "\xff"}) EXPECT_PRED2(says, refused_with(bad), "json: is no JSON");
  for (const char* odd : {"[1]", "5", R"({"added_tokens_decoder": 3})", R"({"added_tokens_decoder": [1, {}]})"}) {
    folder_.write("tokenizer_config.json", std::string(odd));
    EXPECT_EQ(token_of_low(), 257) << odd << " says nothing of rules";
  }
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
