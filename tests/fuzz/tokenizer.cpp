// GPT-2's files, the characters of a data set, what states the rule of merges, and the files of other tokenizers: the
// first byte says which of these is the input's.
#include "tests/fuzz/fuzz.h"
#include "tests/train/token_samples.h"
#include "train/data/folder_tokenizer.h"

namespace lethe::fuzz::tokenizer_target {
namespace {

constexpr std::string_view kText = "a low  newer \xc3\xa9 \xff\n aaaa";

/// Tokens that a text becomes give it back.
void encode(const Tokenizer& tokenizer, bool any_text) {
  for (const std::int32_t token : {-1, 0, 255, 1 << 30}) tokenizer.text_of(token);
  std::string back;
  for (const std::int32_t token : tokenizer.symbols_of(kText)) back += tokenizer.text_of(token);
  require(!any_text || back == kText, "tokens give the text back");
}

std::string input_of(char which, const std::string& text) { return which + text; }

Material material() {
  using testing::kFewMerges;
  const std::string vocabulary = testing::vocabulary_json(kFewMerges), merges = testing::merges_text(kFewMerges);
  return {
      .seeds = {input_of(0, vocabulary), input_of(1, merges), input_of(2, " aelnorw\n\xc3\xa9"),
                input_of(3, R"({"added_tokens": [{"content": "<|endoftext|>", "special": true}], "normalizer": null,
                                    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},
                                    "model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a a"]}})"),
                input_of(4, R"({"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": false,
                                    "added_tokens_decoder": {"9": {"content": "x", "special": true}}})"),
                input_of(5, "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n##a\nlow\n##er\n"),
                input_of(6, std::string("\x0a\x05\x0a\x01?\x18\x02\x0a\x03\x0a\x01l\x0a\x03\x0a\x01o\x0a\x09\x0a\x02lo"
                                        "\x15\0\0\x80\xbf\x12\x02\x18\x02\x1a\x02\x20\0",
                                        36)),
                input_of(7, R"({"model": {"type": "WordPiece", "unk_token": "[UNK]",
                                              "vocab": {"[PAD]": 0, "[UNK]": 1, "a": 2, "##a": 3}},
                                    "normalizer": {"type": "BertNormalizer"},
                                    "pre_tokenizer": {"type": "BertPreTokenizer"}})"),
                input_of(7, R"({"model": {"vocab": {"?": 0, "l": 1, "o": 2, "lo": 3}, "merges": ["l o"],
                                              "unk_token": "?"}, "added_tokens": [{"id": 4, "content": "<s>"}],
                                    "pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581"}})")},
      .words = {"#version: 0.2\n", "l o\n", " ", "\r\n", "\"a\": 97, ", "\": 256, \"", "{}", "\xc4\xa0",
                "\xef\xbb\xbf"}};
}

void read_input(const std::uint8_t* data, std::size_t size) {
  using testing::kFewMerges;
  if (size == 0) return;
  static const Directory directory;
  const std::string_view input = text_of(data + 1, size - 1);
  if (data[0] == 2) {
    directory.put(kCharactersFile, input);
    reads({Exit::Data}, [&] { encode(*open_tokenizer(TokenKind::Characters, directory.path()), false); });
    return;
  }
  if (data[0] >= 5) {
    static const Directory words, pieces, json;
    const Directory& its = data[0] == 5 ? words : data[0] == 6 ? pieces : json;
    its.put(data[0] == 5 ? "vocab.txt" : data[0] == 6 ? "tokenizer.model" : "tokenizer.json", input);
    reads({Exit::Data}, [&] { encode(*open_folder_tokenizer(its.path()).tokenizer, false); });
    return;
  }
  directory.put("tokenizer.json", data[0] == 3 ? input : R"({"pre_tokenizer": {"type": "ByteLevel"}})");
  directory.put("tokenizer_config.json", data[0] == 4 ? input : "{}");
  directory.put("vocab.json", data[0] == 0 ? input : testing::vocabulary_json(kFewMerges));
  directory.put("merges.txt", data[0] == 1 ? input : testing::merges_text(kFewMerges));
  reads({Exit::Data}, [&] { encode(*open_tokenizer(TokenKind::Pairs, directory.path()), data[0] == 1); });
}

const RegisterTarget target{{"tokenizer", material, read_input}};

}  // namespace
}  // namespace lethe::fuzz::tokenizer_target
