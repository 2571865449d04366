#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/train/data_samples.h"
#include "train/data/batches.h"
#include "train/data/folder_tokenizer.h"
#include "train/data/sequences.h"

namespace lethe::testing {
namespace {

using Symbols = std::vector<std::int32_t>;

struct Sample {
  Symbols symbols, labels;
  bool operator==(const Sample&) const = default;
};

Sample sample_of(const Sequences& data, Split split, std::int64_t index) {
  const auto length = static_cast<std::size_t>(data.info().length);
  Sample sample{Symbols(length), Symbols(length)};
  data.read(split, index, sample.symbols.data(), sample.labels.data());
  return sample;
}

std::string text_of(const Sequences& data, const Symbols& symbols) {
  std::string text;
  for (const std::int32_t symbol : symbols) text.push_back(data.info().alphabet.at(static_cast<std::size_t>(symbol)));
  return text;
}

std::string refused(const std::string& spec, std::int64_t length, std::int64_t symbols) {
  return error_from([&] { open_sequences(spec, length, symbols, 0); });
}

/// 90 characters, then 10 of which only the last is new.
const std::string kText = []() {
  std::string text;
  for (int i = 0; i < 99; ++i) text.push_back("hello world"[i % 11]);
  return text + '\xe9';
}();

TEST(Text, SymbolsAreTheBytesOfTheFileInTheOrderOfTheirValues) {
  const TemporaryFolder folder;
  folder.write("text", kText);
  const auto data = open_sequences("text:" + folder.text() + "/text", 4, 9, 0);
  EXPECT_EQ(data->info().alphabet, " dehlorw\xe9");
  EXPECT_EQ(data->name(), "text");
}

TEST(Text, AByteOrderMarkIsNoPartOfIt) {
  const TemporaryFolder folder;
  folder.write("text", "\xef\xbb\xbf" + kText);
  EXPECT_EQ(open_text({.path = folder.text() + "/text"}, 4)->info().alphabet, " dehlorw\xe9");
}

TEST(Text, WhatNoTextIsPackedAsIsReadNoFurther) {
  const TemporaryFolder folder;
  folder.write("text.gz", gzipped(FileContent(std::size_t{90} << 20, 'x')));
  EXPECT_PRED2(says, error_from([&] { open_text({.path = folder.text() + "/text.gz"}, 4); }),
               "a hundred times what it is packed");
}

TEST(Text, WindowsStandSideBySideAndEachCharacterIsFollowedByTheNext) {
  const TemporaryFolder folder;
  folder.write("text", kText);
  const auto data = open_text({.path = folder.text() + "/text"}, 4);
  EXPECT_EQ(data->size(Split::Train), 22);  // 88 of 90, and the one after
  for (std::int64_t i = 0; i < 22; ++i) {
    const Sample sample = sample_of(*data, Split::Train, i);
    EXPECT_EQ(text_of(*data, sample.symbols), kText.substr(static_cast<std::size_t>(4 * i), 4));
    EXPECT_EQ(text_of(*data, sample.labels), kText.substr(static_cast<std::size_t>(4 * i + 1), 4));
  }
}

TEST(Text, LastTenthIsForTests) {
  const TemporaryFolder folder;
  folder.write("text", kText);
  const auto data = open_text({.path = folder.text() + "/text"}, 3);
  ASSERT_EQ(data->size(Split::Test), 3);
  EXPECT_EQ(text_of(*data, sample_of(*data, Split::Test, 0).symbols), kText.substr(90, 3));
  EXPECT_EQ(text_of(*data, sample_of(*data, Split::Test, 2).labels), kText.substr(97, 3));
}

TEST(Text, MayBeTokensOfAFolder) {
  const TemporaryFolder folder;
  folder.write("text", kText);
  const std::string llama = LETHE_SOURCE_DIR "/tests/oracles/tokens/llama2";
  const auto tokenizer = open_folder_tokenizer(llama).tokenizer;
  std::vector<std::int32_t> tokens = tokenizer->symbols_of(kText);
  tokens.insert(tokens.begin(), 1);  // <s>
  const auto data = open_sequences("text:" + folder.text() + "/text,tokenizer=" + llama, 4, 700, 0);
  EXPECT_EQ(sample_of(*data, Split::Train, 0).symbols, Symbols(tokens.begin(), tokens.begin() + 4));
  EXPECT_EQ(sample_of(*data, Split::Train, 1).labels, Symbols(tokens.begin() + 5, tokens.begin() + 9));
  EXPECT_EQ(data->meaning().tokenizer, tokenizer->identity());
  EXPECT_EQ(data->end_symbol(), 2);
  EXPECT_EQ(data->vocabulary()->frame().before, Symbols{1});
  EXPECT_PRED2(says, refused("text:" + folder.text() + "/text,tokenizer=" + llama, 4, 619),
               "text: has 620 tokens, the network tells 619 apart; ");
}

TEST(Text, MayBePacked) {
  const TemporaryFolder folder;
  folder.write("text.gz", gzipped(FileContent(kText.begin(), kText.end())));
  EXPECT_EQ(open_text({.path = folder.text() + "/text.gz"}, 4)->info().alphabet.size(), 9U);
}

TEST(Text, FilesOfTooLittleAreRefused) {
  const TemporaryFolder folder;
  folder.write("empty", std::string());
  folder.write("same", std::string(40, 'a'));
  folder.write("text", kText);
  const std::string file = "text:" + folder.text();
  EXPECT_PRED2(says, refused(file + "/empty", 4, 9), "/empty: is empty, text needs at least two different characters");
  EXPECT_PRED2(says, refused(file + "/same", 4, 9), "/same: has one character alone, 40 times");
  EXPECT_PRED2(says, refused(file + "/text", 10, 9),
               "has 100 characters, but windows of 10 with a tenth for tests take at least 110; `set` length=L");
  EXPECT_EQ(refused(file + "/text", 4, 8),
            "text: has 9 different characters, the network tells 8 apart; `set` vocab=9 gives a network of the zoo as "
            "many");
  EXPECT_PRED2(says, refused(file + "/none", 4, 9), "/none: cannot be opened");
  EXPECT_PRED2(says, refused(file, 4, 9), "is a directory, not a file");
}

TEST(Sentences, SampleIsAFunctionOfSeedSplitAndIndex) {
  const auto data = open_sequences("sentences", 64, 28, 7), same = open_sequences("sentences", 64, 28, 7);
  const auto other = open_sequences("sentences", 64, 28, 8);
  const Sample third = sample_of(*data, Split::Train, 3);
  EXPECT_EQ(sample_of(*same, Split::Train, 3), third);
  EXPECT_NE(sample_of(*data, Split::Train, 4), third);
  EXPECT_NE(sample_of(*data, Split::Test, 3), third);
  EXPECT_NE(sample_of(*other, Split::Train, 3), third);
}

TEST(Sentences, AreMadeOfFewWordsAndLabelsComeOneLater) {
  const auto data = open_sequences("sentences:train=300,test=7", 120, 96, 0);
  EXPECT_EQ(data->size(Split::Train), 300);
  EXPECT_EQ(data->size(Split::Test), 7);
  std::set<std::string> words;
  for (std::int64_t i = 0; i < 300; ++i) {
    const auto [symbols, labels] = sample_of(*data, Split::Train, i);
    EXPECT_TRUE(std::equal(symbols.begin() + 1, symbols.end(), labels.begin()));
    std::string text = text_of(*data, symbols);
    text = text.substr(text.find(' '), text.rfind(' ') - text.find(' '));  // words that were cut
    std::replace(text.begin(), text.end(), '.', ' ');
    std::istringstream in(text);
    for (std::string word; in >> word;) words.insert(word);
  }
  EXPECT_GT(words.size(), 50U);
  EXPECT_LT(words.size(), 70U);
  EXPECT_TRUE(words.count("mice"));
}

TEST(Copies, AreSymbolsOfAnyNumberAndThenPadding) {
  const auto data = open_sequences("copy:train=2000", 6, 5, 1);
  std::map<std::ptrdiff_t, int> lengths;
  std::map<std::int32_t, int> seen;
  for (std::int64_t i = 0; i < 2000; ++i) {
    const auto [symbols, labels] = sample_of(*data, Split::Train, i);
    EXPECT_EQ(symbols, labels);
    const auto end = std::find(symbols.begin(), symbols.end(), 0);
    EXPECT_TRUE(std::all_of(end, symbols.end(), [](std::int32_t symbol) { return symbol == 0; }));
    ++lengths[end - symbols.begin()];
    for (const std::int32_t symbol : symbols) ++seen[symbol];
  }
  EXPECT_EQ(lengths.size(), 6U);
  for (const auto& [length, count] : lengths) EXPECT_NEAR(count, 333, 80) << length;
  EXPECT_EQ(seen.size(), 5U);
  EXPECT_EQ(seen.rbegin()->first, 4);
  EXPECT_EQ(sample_of(*data, Split::Train, 9), sample_of(*open_sequences("copy", 6, 5, 1), Split::Train, 9));
  EXPECT_PRED2(says, refused("copy", 6, 2), "copy: has at least 2 symbols beside the padding, the network tells 2");
}

TEST(SyntheticSequences, HaveEverySymbolAndLabel) {
  const auto data = open_sequences("synthetic:100", 10, 4, 0);
  EXPECT_EQ(data->size(Split::Train), 100);
  EXPECT_EQ(data->size(Split::Test), 20);
  std::set<std::int32_t> symbols, labels;
  for (std::int64_t i = 0; i < 100; ++i) {
    const Sample sample = sample_of(*data, Split::Train, i);
    symbols.insert(sample.symbols.begin(), sample.symbols.end());
    labels.insert(sample.labels.begin(), sample.labels.end());
  }
  EXPECT_EQ(symbols, (std::set<std::int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(labels, symbols);
}

TEST(Sequences, BatchesHoldSymbolsBesideALabelForEach) {
  const auto data = open_sequences("copy:train=10,test=5", 3, 9, 0);
  Batches batches(*data, evaluation_batches(4, DType::f64), host());
  EXPECT_EQ(batches.sample_bytes(), 4 * 3 * 4);
  EXPECT_EQ(batches.label_bytes(), 4 * 3 * 4);
  batches.start(0);
  batches.next();
  const Batch* last = batches.next();
  ASSERT_EQ(last->count, 1);
  const auto* symbols = static_cast<const std::int32_t*>(last->samples);
  EXPECT_EQ(Symbols(symbols, symbols + 3), sample_of(*data, Split::Test, 4).symbols);
  EXPECT_EQ(Symbols(last->labels, last->labels + 3), sample_of(*data, Split::Test, 4).labels);
  EXPECT_EQ(Symbols(symbols + 3, symbols + 12), Symbols(9, 0));
  EXPECT_EQ(Symbols(last->labels + 3, last->labels + 12), Symbols(9, 0));
}

}  // namespace
}  // namespace lethe::testing
