// Tokenizers of folders, held to the packages tokenizers and sentencepiece (tests/oracles/tokens.py).
#include "train/data/folder_tokenizer.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/train/data_samples.h"
#include "tests/train/token_samples.h"
#include "train/data/checksum.h"

namespace lethe::testing {
namespace {

using FigureJson = nlohmann::json;
using TokenIds = std::vector<std::int32_t>;

const std::string kTokenFolders = LETHE_SOURCE_DIR "/tests/oracles/tokens/";

FigureJson json_in(const std::string& file) {
  std::ifstream in(file);
  return FigureJson::parse(in);
}

const FigureJson& token_figures() {
  static const FigureJson figures = json_in(kTokenFolders + "tokens.json");
  return figures;
}

/// The text of tokens, as `train generate` writes them.
std::string decoded(const Tokenizer& tokenizer, const TokenIds& tokens) {
  std::string text;
  for (const std::int32_t token : tokens) text += tokenizer.text_of(token);
  if (tokenizer.adds_blank() && text.starts_with(' ')) text.erase(0, 1);
  return text;
}

/// Holds the tokenizer to what the packages found for `name`.
void expect_as_found(const Tokenizer& tokenizer, const std::string& name) {
  SCOPED_TRACE(name);
  const FigureJson& all = token_figures();
  FigureJson found = all["tokenizers"][name];
  if (found.is_string()) found = all["tokenizers"][found.get<std::string>()];
  EXPECT_EQ(tokenizer.frame().before, found["frame"][0].get<TokenIds>());
  EXPECT_EQ(tokenizer.frame().after, found["frame"][1].get<TokenIds>());
  for (std::size_t i = 0; i < all["texts"].size(); ++i) {
    const std::string text = all["texts"][i].get<std::string>();
    const TokenIds ids = found["ids"][i].get<TokenIds>();
    EXPECT_EQ(tokenizer.symbols_of(text), ids) << i << ": " << text;
    const FigureJson& back = found["decoded"][i];
    EXPECT_EQ(decoded(tokenizer, ids), back.is_null() ? text : back.get<std::string>()) << i;
  }
  std::string text;
  for (int i = 0; i < all["long"]["times"]; ++i) text += all["long"]["text"].get<std::string>();
  TokenIds ids, pieces;
  tokenizer.encode(text, 0, std::string::npos, ids);
  EXPECT_EQ(std::ssize(ids), found["long"]["count"]);
  EXPECT_EQ(checksum_of(std::as_bytes(std::span(ids))), found["long"]["checksum"]);
  for (std::size_t at = 0; at < text.size();) at = tokenizer.encode(text, at, 1, pieces);
  EXPECT_TRUE(pieces == ids) << "in pieces";
}

void prefixed(FigureJson& json) { json["pre_tokenizer"]["add_prefix_space"] = true; }
void cased(FigureJson& json) { json["normalizer"]["lowercase"] = json["normalizer"]["handle_chinese_chars"] = false; }
void as_it_is(FigureJson&) {}

class FolderTokenizers : public ::testing::Test {
 protected:
  /// A folder's tokenizer.json as a change makes it.
  template <class Change>
  void change(const std::string& name, const Change& change) {
    FigureJson json = json_in(kTokenFolders + name + "/tokenizer.json");
    change(json);
    folder_.write("tokenizer.json", json.dump());
  }
  std::unique_ptr<Tokenizer> open() const { return open_folder_tokenizer(folder_.text()).tokenizer; }
  template <class Change>
  std::string refused(const std::string& name, const Change& how) {
    change(name, how);
    return error_from([&] { open(); });
  }

  TemporaryFolder folder_;
};

TEST_F(FolderTokenizers, MakeTheTokensOfThePackages) {
  for (const char* name : {"gpt2", "llama3", "qwen2", "smollm2", "bert", "bert_words", "llama2", "pieces"})
    expect_as_found(*open_folder_tokenizer(kTokenFolders + name).tokenizer, name);
}

TEST_F(FolderTokenizers, OfOtherRulesForTheSameVocabularyDoSoToo) {
  change("gpt2", prefixed);
  expect_as_found(*open(), "prefixed");
  change("bert", cased);
  expect_as_found(*open(), "bert_cased");
  const auto metaspace = [](const char* scheme, bool cuts) {
    return [=](FigureJson& json) {
      json["normalizer"] = nullptr;
      json["pre_tokenizer"] = {
          {"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", scheme}, {"split", cuts}};
    };
  };
  change("llama2", metaspace("first", false));
  expect_as_found(*open(), "metaspace");
  change("llama2", metaspace("always", true));
  expect_as_found(*open(), "metaspace_cut");
}

/// As Gemma's file says it: where each blank has become another character, none is left to cut at.
TEST_F(FolderTokenizers, CutNothingWhereNoBlankIsLeft) {
  const auto replaced = [](const FigureJson& pre) {
    return [=](FigureJson& json) {
      json["normalizer"] = {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}};
      json["pre_tokenizer"] = pre;
    };
  };
  FigureJson split = {
      {"type", "Split"}, {"pattern", {{"String", " "}}}, {"behavior", "MergedWithPrevious"}, {"invert", false}};
  change("llama2", replaced(nullptr));
  const std::unique_ptr<Tokenizer> whole = open();
  change("llama2", replaced(split));
  const std::unique_ptr<Tokenizer> cut = open();
  for (const FigureJson& text : token_figures()["texts"])
    EXPECT_EQ(cut->symbols_of(text.get<std::string>()), whole->symbols_of(text.get<std::string>())) << text;
  split["behavior"] = "Removed";
  EXPECT_PRED2(says, refused("llama2", replaced(split)), "pre_tokenizer/behavior is \"Removed\", which is not read");
  split["behavior"] = "MergedWithPrevious";
  split["pattern"]["String"] = "a";
  EXPECT_PRED2(says, refused("llama2", replaced(split)), "pre_tokenizer/pattern is {\"String\":\"a\"}, which");
}

TEST_F(FolderTokenizers, TakeAnyBytes) {
  const std::string text = "a\xff\xfe low\xe2\x82 b\xc3";
  for (const char* name : {"gpt2", "llama3", "qwen2", "smollm2", "llama2", "pieces"}) {
    const auto tokenizer = open_folder_tokenizer(kTokenFolders + name).tokenizer;
    EXPECT_EQ(decoded(*tokenizer, tokenizer->symbols_of(text)), text) << name;
  }
  const auto bert = open_folder_tokenizer(kTokenFolders + "bert").tokenizer;
  EXPECT_EQ(bert->symbols_of("the\xff text"), bert->symbols_of("the text"));
}

TEST_F(FolderTokenizers, SayWhatEndsAText) {
  EXPECT_EQ(open_folder_tokenizer(kTokenFolders + "pieces").end, 2);
  EXPECT_EQ(open_folder_tokenizer(kTokenFolders + "bert").end, std::nullopt);
  change("qwen2", as_it_is);
  for (const char* config :
       {R"({"eos_token": "<|im_end|>"})", R"({"eos_token": {"content": "<|im_end|>", "id": 1}})"}) {
    folder_.write("tokenizer_config.json", std::string(config));
    const FolderTokenizer folder = open_folder_tokenizer(folder_.text());
    EXPECT_EQ(folder.end, folder.tokenizer->token_of("<|im_end|>"));
    EXPECT_EQ(folder.files.size(), 2U);
  }
  folder_.write("tokenizer_config.json", std::string(R"({"eos_token": "<end>"})"));
  EXPECT_PRED2(says, error_from([&] { open(); }),
               "/tokenizer_config.json: eos_token is '<end>', which is no token of the vocabulary");
}

TEST_F(FolderTokenizers, WhoseFilesContradictEachOtherAreRefused) {
  const auto with_config = [&](const char* name, const char* config, void (*how)(FigureJson&) = as_it_is) {
    folder_.write("tokenizer_config.json", std::string(config));
    return refused(name, how);
  };
  EXPECT_PRED2(says, with_config("llama2", R"({"add_bos_token": false})"),
               "/tokenizer_config.json: add_bos_token is false, which is not read (known: true, as its rules say)");
  EXPECT_PRED2(says, with_config("llama2", R"({"add_eos_token": true})"), "add_eos_token is true, which");
  EXPECT_PRED2(says, with_config("llama2", R"({"add_prefix_space": false})"), "add_prefix_space is false, which");
  EXPECT_PRED2(says, with_config("bert", R"({"do_lower_case": false})"), "do_lower_case is false, which");
  EXPECT_PRED2(says, with_config("bert", R"({"tokenize_chinese_chars": true})", cased),
               "tokenize_chinese_chars is true");
}

TEST_F(FolderTokenizers, KnowTheTokensThatWereAdded) {
  change("qwen2", as_it_is);
  const std::int32_t end = open()->token_of("<|im_end|>").value();
  const auto with_added = [&](const FigureJson& added) {
    folder_.write("added_tokens.json", added.dump());
    return error_from([&] { open(); });
  };
  folder_.write("added_tokens.json", FigureJson{{"<|im_end|>", end}}.dump());
  EXPECT_EQ(open()->token_of("<|im_end|>"), end);
  for (const FigureJson& added :
       {FigureJson{{"<|im_end|>", end - 1}}, FigureJson{{"<|im_end|>", 100000}}, FigureJson{{"<|im_end|>", "x"}}})
    EXPECT_PRED2(
        says, with_added(added),
        "/added_tokens.json: has the token '<|im_end|>', which tokenizer.json does not have under that number");
}

TEST_F(FolderTokenizers, OfOtherKindsAreRefusedByName) {
  const auto at = [](const char* place, const FigureJson& value) {
    return [=](FigureJson& json) { json[FigureJson::json_pointer(place)] = value; };
  };
  EXPECT_PRED2(says, refused("llama3", at("/pre_tokenizer/pretokenizers/0/behavior", "Removed")),
               "pre_tokenizer/pretokenizers/0/behavior is \"Removed\", which is not read (known: \"Isolated\")");
  EXPECT_PRED2(says, refused("llama3", at("/post_processor/processors/1/type", "Other")),
               "post_processor/processors/1/type is \"Other\", which");
  EXPECT_PRED2(says, refused("llama3", at("/post_processor/processors/1/special_tokens/<|begin_of_text|>/ids/0", 5000)),
               "post_processor: puts token 5000 beside a text, but there are 444");
  EXPECT_PRED2(says, refused("qwen2", at("/normalizer/type", "NFKC")), "normalizer/type is \"NFKC\", which");
  EXPECT_PRED2(says, refused("qwen2", at("/added_tokens/0/normalized", true)), "added_tokens/0/normalized is true");
  EXPECT_PRED2(says, refused("llama2", at("/normalizer/normalizers/1/content", "_")), "normalizers/1/content is \"_\"");
  EXPECT_PRED2(says, refused("llama2", at("/decoder/decoders/0/type", "BPEDecoder")),
               "decoders/0/type is \"BPEDecoder\"");
  EXPECT_PRED2(says, refused("llama2", at("/model/unk_token", "?no")), "model/unk_token is \"?no\", which");
  EXPECT_PRED2(says,
               refused("llama2",
                       [](FigureJson& json) {
                         json["model"]["byte_fallback"] = false;
                         json["model"]["unk_token"] = nullptr;
                       }),
               "model/unk_token is missing, which is not read (known: a token for unknown characters, or byte_");
  EXPECT_PRED2(says, refused("bert", at("/pre_tokenizer/type", "Whitespace")), "pre_tokenizer/type is \"Whitespace\"");
  EXPECT_PRED2(says, refused("bert", at("/normalizer/type", "Lowercase")), "normalizer/type is \"Lowercase\"");
  EXPECT_PRED2(says,
               refused("bert",
                       [](FigureJson& json) {
                         std::swap(json["model"]["vocab"]["[PAD]"], json["model"]["vocab"]["a"]);
                         json["added_tokens"][0]["id"] = json["model"]["vocab"]["[PAD]"];
                       }),
               "token 0 is 'a', expected [PAD]: networks take symbol 0 as padding");
  EXPECT_PRED2(says, error_from([&] { open_folder_tokenizer(kTokenFolders); }),
               "has no tokenizer: none of tokenizer.json");
}

TEST_F(FolderTokenizers, OfDamagedPiecesAreRefused) {
  std::ifstream in(kTokenFolders + "pieces/tokenizer.model", std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  const auto refused_model = [&](const std::string& content) {
    folder_.write("tokenizer.model", content);
    return error_from([&] { open(); });
  };
  EXPECT_PRED2(says, refused_model(whole.substr(0, whole.size() - 3)), "tokenizer.model: ends within a field, so");
  EXPECT_PRED2(says, refused_model(""), "tokenizer.model: model_type is unigram, which is not read (known: BPE)");
  EXPECT_PRED2(says, refused_model("\x1f\x8b"), "tokenizer.model: is no file of sentencepiece, or damaged");
  const std::string pair_model = "\x12\x02\x18\x02", keeps_blanks = "\x1a\x02\x20";  // and whether it drops them
  EXPECT_PRED2(says, refused_model(pair_model), "remove_extra_whitespaces is true, which is not read (known: false)");
  EXPECT_PRED2(says, refused_model(pair_model + keeps_blanks + std::string(1, '\0')), "has no pieces");
  EXPECT_PRED2(says, refused_model(pair_model + std::string("\x1a\x05\x12\x01x\x20\0", 7)), "normalizer_spec changes");
  const std::string user_defined("\x0a\x05\x0a\x01x\x18\x04", 7);
  EXPECT_PRED2(says, refused_model(user_defined + pair_model + keeps_blanks + std::string(1, '\0')),
               "piece 'x' is of type USER_DEFINED, which is not read");
}

}  // namespace
}  // namespace lethe::testing
