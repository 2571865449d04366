// Words by GPT-2's rule, tokens by merges, and files that are not as GPT-2's.
#include "train/data/tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "framework/random.h"
#include "tests/train/data_samples.h"
#include "tests/train/token_samples.h"
#include "train/data/words.h"

namespace lethe::testing {
namespace {

using Words = std::vector<std::string>;
using TokenList = std::vector<std::int32_t>;

Words words_of(const std::string& text) {
  Words words;
  for (std::size_t at = 0; at < text.size(); at += words.back().size())
    words.push_back(text.substr(at, word_of_gpt2(text, at)));
  return words;
}

TEST(Words, AreLettersNumbersOrOthersWithOneBlankBefore) {
  EXPECT_EQ(words_of("Hello world"), (Words{"Hello", " world"}));
  EXPECT_EQ(words_of("in 1984, eh?!"), (Words{"in", " 1984", ",", " eh", "?!"}));
  EXPECT_EQ(words_of("a1b2"), (Words{"a", "1", "b", "2"}));
  EXPECT_EQ(words_of("x = y+1;"), (Words{"x", " =", " y", "+", "1", ";"}));
  EXPECT_EQ(words_of("na\u00efve \u4f60\u597d\u00b2\u2167 \u0663"),
            (Words{"na\u00efve", " \u4f60\u597d", "\u00b2\u2167", " \u0663"}));
  EXPECT_EQ(words_of("hi \U0001f600\U0001f468\u200d\U0001f467!"),
            (Words{"hi", " \U0001f600\U0001f468\u200d\U0001f467!"}));
  EXPECT_EQ(words_of("e\u0301"), (Words{"e", "\u0301"}));  // a mark is no letter
}

TEST(Words, EndingsOfEnglishStandAlone) {
  EXPECT_EQ(words_of("it's I'll we've they're I'm he'd can't"),
            (Words{"it", "'s", " I", "'ll", " we", "'ve", " they", "'re", " I", "'m", " he", "'d", " can", "'t"}));
  EXPECT_EQ(words_of("'sun 'S a'"), (Words{"'s", "un", " '", "S", " a", "'"}));
  EXPECT_EQ(words_of(" 's'"), (Words{" '", "s", "'"}));
  EXPECT_EQ(words_of("'r''l"), (Words{"'", "r", "''", "l"}));
}

TEST(Words, WhiteSpaceLeavesItsLastCharacterToTheWordAfter) {
  EXPECT_EQ(words_of("a  b"), (Words{"a", " ", " b"}));
  EXPECT_EQ(words_of("a \n b"), (Words{"a", " \n", " b"}));
  EXPECT_EQ(words_of("a\n\nb"), (Words{"a", "\n", "\n", "b"}));
  EXPECT_EQ(words_of("a\tb"), (Words{"a", "\t", "b"}));
  EXPECT_EQ(words_of("a \u00a0\u3000b"), (Words{"a", " \u00a0", "\u3000", "b"}));
  EXPECT_EQ(words_of("a  \n"), (Words{"a", "  \n"}));
  EXPECT_EQ(words_of(" "), (Words{" "}));
  EXPECT_EQ(words_of(std::string("\0\x1f \x7f\u0085", 6)), (Words{std::string("\0\x1f", 2), " \x7f", "\u0085"}));
}

TEST(Words, BytesThatAreNoUtf8AreCharactersOfNoClass) {
  EXPECT_EQ(words_of("a\xff\xfe!b"), (Words{"a", "\xff\xfe!", "b"}));
  EXPECT_EQ(words_of("a\xe2\x82 b\xc3"), (Words{"a", "\xe2\x82", " b", "\xc3"}));
  EXPECT_EQ(words_of("\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80"), (Words{"\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80"}));
}

TEST(Characters, OfEachLengthAreReadAndWritten) {
  for (const std::uint32_t code : {0x0, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff}) {
    const std::string text = utf8_of(code);
    const Character character = character_at(text, 0);
    EXPECT_TRUE(character.valid && character.code == code && character.bytes == text.size()) << code;
    for (std::size_t cut = 1; cut < text.size(); ++cut) EXPECT_FALSE(character_at(text.substr(0, cut), 0).valid);
  }
}

TEST(BytesTokenizer, ATokenIsAByte) {
  const auto tokenizer = bytes_tokenizer();
  EXPECT_EQ(tokenizer->size(), 256);
  EXPECT_EQ(tokenizer->symbols_of("a\xff"), (TokenList{97, 255}));
  EXPECT_EQ(tokenizer->text_of(255) + tokenizer->text_of(10), "\xff\n");
  EXPECT_EQ(tokenizer->text_of(256) + tokenizer->text_of(-1), "");
}

TEST(CharactersTokenizer, ATokenIsACharacterThatOccursInTheOrderOfTheirNumbers) {
  std::vector<bool> found;
  find_characters("b\u00e9a\U0001f600", found);
  find_characters("ab\n", found);
  const std::string alphabet = alphabet_of(found);
  EXPECT_EQ(alphabet, "\nab\u00e9\U0001f600");
  const auto tokenizer = characters_tokenizer(alphabet);
  EXPECT_EQ(tokenizer->size(), 5);
  EXPECT_EQ(tokenizer->symbols_of("\u00e9a\U0001f600"), (TokenList{3, 1, 4}));
  EXPECT_EQ(tokenizer->text_of(4), "\U0001f600");
  EXPECT_EQ(error_from([&] { tokenizer->symbols_of("a\u00e8"); }),
            "byte 1 begins U+00E8, which is none of the 5 characters of the vocabulary");
  EXPECT_PRED2(says, error_from([&] { tokenizer->symbols_of("a\xe9"); }), "byte 1, 0xE9, is no UTF-8");
  EXPECT_PRED2(says, error_from([] { characters_tokenizer("aba"); }), "character 2 stands there twice");
}

class PairsTokenizerTest : public ::testing::Test {
 protected:
  std::unique_ptr<Tokenizer> open(const std::string& vocabulary, const std::string& merges) const {
    folder_.write("vocab.json", vocabulary);
    folder_.write("merges.txt", merges);
    return open_pairs(pair_files_in(folder_.text()));
  }
  std::unique_ptr<Tokenizer> few() const { return open(vocabulary_json(kFewMerges), merges_text(kFewMerges)); }
  std::string refused(const std::string& vocabulary, const std::string& merges) const {
    return error_from([&] { open(vocabulary, merges); });
  }

  TemporaryFolder folder_;
};

TEST_F(PairsTokenizerTest, MergesWhatComesFirstInTheListTheLeftmostFirst) {
  const auto tokenizer = few();
  EXPECT_EQ(tokenizer->size(), 256 + 8 + 1);
  EXPECT_EQ(tokenizer->symbols_of("low"), (TokenList{257}));
  EXPECT_EQ(tokenizer->symbols_of("lower newer"), (TokenList{257, 258, ' ', 261, 258}));  // "er" comes before "new"
  EXPECT_EQ(tokenizer->symbols_of("a low"), (TokenList{'a', 259}));
  EXPECT_EQ(tokenizer->symbols_of("aaaaa"), (TokenList{262, 262, 'a'}));
  EXPECT_EQ(tokenizer->symbols_of("\u00e9"), (TokenList{263}));
  EXPECT_EQ(tokenizer->symbols_of(""), TokenList{});
  EXPECT_EQ(tokenizer->token_of("<|endoftext|>"), 264);
  EXPECT_EQ(tokenizer->token_of(" low"), 259);
  EXPECT_EQ(tokenizer->token_of("lowe"), std::nullopt);
}

TEST_F(PairsTokenizerTest, TextThatIsAMarkStaysText) {
  const auto tokens = few()->symbols_of("<|endoftext|>");
  EXPECT_EQ(std::count(tokens.begin(), tokens.end(), 264), 0);
}

TEST_F(PairsTokenizerTest, TokensGiveTheTextBackByteForByte) {
  const auto tokenizer = few();
  Random random(1);
  std::string text = "lower newer aaaa \n\t \u00e9t\u00e9 ";
  for (int i = 0; i < 20000; ++i) text += static_cast<char>(random.below(256));
  for (int i = 0; i < 20000; ++i) text += "aelorwn \n"[random.below(9)];
  std::string back;
  for (const std::int32_t token : tokenizer->symbols_of(text)) back += tokenizer->text_of(token);
  EXPECT_EQ(back, text);
}

TEST_F(PairsTokenizerTest, TextInPiecesBecomesTheSameTokens) {
  const auto tokenizer = few();
  const std::string text = "a low  \n  lower it's new  \u00e9 aaaaa   ";
  const TokenList whole = tokenizer->symbols_of(text);
  for (std::size_t most = 1; most < 12; ++most) {
    TokenList tokens;
    for (std::size_t at = 0; at < text.size();) at = tokenizer->encode(text, at, most, tokens);
    EXPECT_EQ(tokens, whole) << most;
  }
}

TEST_F(PairsTokenizerTest, OneWordOfAMillionBytesTakesNoLongTime) {
  const TokenList tokens = few()->symbols_of(std::string(1'000'001, 'a'));
  EXPECT_EQ(tokens.size(), 500'001U);
  EXPECT_EQ(tokens.back(), 'a');
}

TEST_F(PairsTokenizerTest, FilesHaveEitherOfTheirNames) {
  folder_.write("encoder.json", vocabulary_json(kFewMerges));
  EXPECT_PRED2(says, error_from([&] { pair_files_in(folder_.text()); }), "has neither merges.txt nor vocab.bpe");
  folder_.write("vocab.bpe", merges_text(kFewMerges));
  EXPECT_EQ(open_pairs(pair_files_in(folder_.text()))->symbols_of("low"), (TokenList{257}));
  EXPECT_PRED2(says, error_from([&] { pair_files_in(folder_.text() + "/none"); }),
               "/none: has neither vocab.json nor encoder.json");
}

TEST_F(PairsTokenizerTest, MergesMayHaveOtherLineEndsAndNoVersion) {
  std::string merges = merges_text(kFewMerges).substr(std::string("#version: 0.2\n").size());
  EXPECT_EQ(open(vocabulary_json(kFewMerges), merges)->symbols_of("low"), (TokenList{257}));
  for (std::size_t at = 0; (at = merges.find('\n', at)) != merges.npos; at += 2) merges.insert(at, "\r");
  EXPECT_EQ(open(vocabulary_json(kFewMerges), merges)->symbols_of("low"), (TokenList{257}));
}

TEST_F(PairsTokenizerTest, AMergeTakesTokensOfTheVocabulary) {
  const std::string good = vocabulary_json(kFewMerges);
  EXPECT_PRED2(says, refused(good, "#version: 0.2\nl o\nlo e\n"),
               "/merges.txt:3: the merge 'lo e' needs the token 'loe', which ");
  EXPECT_PRED2(says, refused(good, "wo l\n"), "/merges.txt:1: the merge 'wo l' needs the token 'wo', which ");
  EXPECT_PRED2(says, refused(good, "l o\nl o\n"), "/merges.txt:2: the merge 'l o' stands there twice");
  for (const char* line : {"lo", "l o w", " lo", "lo ", "l  o"})
    EXPECT_PRED2(says, refused(good, line), "/merges.txt:1: expected two tokens with a blank between, got '");
}

TEST_F(PairsTokenizerTest, AVocabularyIsOneNumberForEachToken) {
  const auto refused_vocabulary = [&](const std::string& text) { return refused(text, ""); };
  EXPECT_PRED2(says, refused_vocabulary("{\"a\": 0"), "/vocab.json: is no JSON at byte ");
  EXPECT_PRED2(says, refused_vocabulary("{}"), "/vocab.json: has no tokens");
  EXPECT_PRED2(says, refused_vocabulary("[1]"), "/vocab.json: expected {\"token\": number}");
  EXPECT_PRED2(says, refused_vocabulary("5"), "/vocab.json: expected {\"token\": number}");
  for (const char* value : {"{}", "[]", "\"b\"", "-1", "1.5", "null", "true", "4294967296"})
    EXPECT_PRED2(says, refused_vocabulary(message("{\"a\": ", value, "}")), "after 'a' expected {\"token\": number}");
  EXPECT_PRED2(says, refused_vocabulary(R"({"a": 0, "a": 1})"), "token 'a' stands twice");
  EXPECT_PRED2(says, refused_vocabulary(R"({"a": 0, "b": 0})"), "two tokens have the number 0");
  EXPECT_PRED2(says, refused_vocabulary(R"({"a": 0, "b": 2})"), "token 'b' has the number 2, but there are 2 tokens");
  EXPECT_PRED2(says, refused_vocabulary(R"({"a": 0})"), "lacks '\u0100', the token of byte 0");
}

}  // namespace
}  // namespace lethe::testing
