// The tokenizer among the keys of a GGUF file.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/train/data_samples.h"
#include "tests/train/gguf_samples.h"
#include "train/data/folder_tokenizer.h"
#include "train/data/gguf_keys.h"
#include "train/session/gguf_writer.h"

namespace lethe::testing {
namespace {

class GgufTokenizers : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.text() + '/' + name; }
  std::string model() const { return path("m.gguf"); }
  TemporaryFolder folder_;
};

TEST_F(GgufTokenizers, HasItsTokenizer) {
  GgufWriter(model(), byte_pair_keys(), {}).finish();
  const FolderTokenizer tokenizer = open_folder_tokenizer(model());
  EXPECT_EQ(tokenizer.end, 264);
  const std::vector<std::int32_t> expected = {256 + 1, 256 + 3, 264, 'n'};
  EXPECT_EQ(tokenizer.tokenizer->symbols_of("low low<|endoftext|>n"), expected);
  EXPECT_TRUE(tokenizer.tokenizer->frame().before.empty());
  ASSERT_EQ(tokenizer.files.size(), 2U);
  std::filesystem::create_directory(path("copy"));
  for (const TokenizerFile& file : tokenizer.files) std::ofstream(path("copy/" + file.name)) << *file.content;
  const FolderTokenizer copy = open_folder_tokenizer(path("copy"));
  EXPECT_EQ(copy.tokenizer->identity(), tokenizer.tokenizer->identity());
  EXPECT_EQ(copy.end, tokenizer.end);
  GgufWriter(path("again.gguf"), gguf_tokenizer_keys(path("copy")), {}).finish();
  EXPECT_EQ(open_folder_tokenizer(path("again.gguf")).tokenizer->identity(), tokenizer.tokenizer->identity());
}

/// SmolLM2's vocabulary lacks some bytes, too.
TEST_F(GgufTokenizers, ByteThatIsNoTokenIsRefusedWhereItStands) {
  GgufEntries keys = byte_pair_keys();
  for (GgufEntry& entry : keys)
    if (entry.key == "tokenizer.ggml.tokens") entry.value[4] = "unused";
  GgufWriter(model(), keys, {}).finish();
  const FolderTokenizer folder = open_folder_tokenizer(model());
  EXPECT_EQ(folder.tokenizer->symbols_of("lo").size(), 1U);
  EXPECT_PRED2(says, error_from([&] { folder.tokenizer->symbols_of("a\4"); }),
               "has the byte 4, which is no token of the vocabulary");
}

TEST_F(GgufTokenizers, HasThePiecesOfSentencepiece) {
  GgufWriter(model(), piece_keys(), {}).finish();
  const FolderTokenizer tokenizer = open_folder_tokenizer(model());
  const std::vector<std::int32_t> expected = {9, 3, 8}, begin = {1};
  EXPECT_EQ(tokenizer.tokenizer->symbols_of("low  lo"), expected);
  EXPECT_EQ(tokenizer.tokenizer->frame().before, begin);
  EXPECT_EQ(tokenizer.end, 2);
}

TEST_F(GgufTokenizers, SaysWhatOfATokenizerIsNotRead) {
  const auto refused_tokens = [&](GgufEntries keys, const GgufEntry& other) {
    std::erase_if(keys, [&](const GgufEntry& entry) { return entry.key == other.key; });
    if (!other.value.is_null()) keys.push_back(other);
    GgufWriter(model(), keys, {}).finish();
    return error_from([&] { open_folder_tokenizer(model()); }).substr(model().size() + 2);
  };
  EXPECT_EQ(refused_tokens(byte_pair_keys(), gguf_text("tokenizer.ggml.model", "bert")),
            "'tokenizer.ggml.model' is 'bert', which is not read (known: gpt2, llama)");
  EXPECT_EQ(refused_tokens(byte_pair_keys(), gguf_text("tokenizer.ggml.pre", "viking")),
            "'tokenizer.ggml.pre' is 'viking', which is not read (known: gpt-2, smollm, llama-bpe, qwen2)");
  EXPECT_EQ(refused_tokens(byte_pair_keys(), {.key = "tokenizer.ggml.merges", .value = nullptr}),
            "lacks 'tokenizer.ggml.merges', which its tokenizer needs");
  EXPECT_EQ(refused_tokens(byte_pair_keys(), gguf_count("tokenizer.ggml.eos_token_id", 265)),
            "'tokenizer.ggml.eos_token_id' is 265, which is none of 265 tokens");
  EXPECT_EQ(
      refused_tokens(byte_pair_keys(), {.key = "tokenizer.ggml.token_type", .type = GgufType::I32, .value = {1, 3}}),
      "'tokenizer.ggml.token_type' has 2 items, 'tokenizer.ggml.tokens' 265");
  EXPECT_EQ(refused_tokens(piece_keys(), {.key = "tokenizer.ggml.scores", .value = nullptr}),
            "lacks 'tokenizer.ggml.scores', which its tokenizer needs");
  GgufWriter(model(), llama_keys(), {}).finish();
  EXPECT_EQ(error_from([&] { open_folder_tokenizer(model()); }),
            model() + ": has no tokenizer: no key 'tokenizer.ggml.model'");
}

}  // namespace
}  // namespace lethe::testing
