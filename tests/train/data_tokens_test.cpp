// Shards of tokens: written, checked, and read as windows.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <set>

#include "tests/train/data_samples.h"
#include "tests/train/train_process.h"
#include "train/data/batches.h"
#include "train/data/sequences.h"
#include "train/session/token_writer.h"

namespace lethe::testing {
namespace {

using TokenList = std::vector<std::int32_t>;

struct Window {
  TokenList symbols, labels;
  bool operator==(const Window&) const = default;
};

class TokensTest : public ::testing::Test {
 protected:
  static constexpr std::int64_t kVocabulary = 1000;

  ShardHeader form(std::uint32_t width = 2, std::uint32_t end = ShardHeader::kNoEnd) const {
    ShardHeader header;
    header.width = width;
    header.vocabulary = kVocabulary;
    header.end = end;
    return header;
  }
  /// Tokens 0, 1, 2... for training, 500, 501... for tests.
  void write(std::int64_t training, std::int64_t tests, const ShardHeader& header, std::int64_t most = 1 << 20) const {
    TokenWriter writer(directory_, header, most);
    for (const auto& [split, first, count] : {std::tuple(Split::Train, 0, training), {Split::Test, 500, tests}}) {
      TokenList tokens(static_cast<std::size_t>(count));
      std::iota(tokens.begin(), tokens.end(), first);
      writer.add(split, tokens);
      writer.finish(split);
    }
    writer.commit();
  }
  std::unique_ptr<Sequences> open(std::int64_t length, const std::string& more = "", std::int64_t symbols = kVocabulary,
                                  std::optional<std::int64_t> ignored = {}) const {
    return open_sequences("tokens:" + directory_ + more, length, symbols, 0, ignored);
  }
  std::string refused(std::int64_t length = 4, std::int64_t symbols = kVocabulary) const {
    return error_from([&] { open(length, "", symbols); });
  }
  static Window window(SampleReader& reader, Split split, std::int64_t index, std::int64_t epoch, std::int64_t length) {
    Window found{TokenList(static_cast<std::size_t>(length)), TokenList(static_cast<std::size_t>(length))};
    reader.read(split, index, epoch, reinterpret_cast<std::byte*>(found.symbols.data()), found.labels.data());
    return found;
  }
  std::string file(const std::string& name) const { return directory_ + '/' + name; }
  void put(const std::string& name, const std::string& content) const {
    std::ofstream(file(name), std::ios::binary) << content;
  }
  /// Changes a shard's header, and its checksums with it.
  template <class Change>
  void change_header(const std::string& name, const Change& change) const {
    std::string bytes = bytes_in(file(name));
    ShardHeader header;
    std::copy_n(bytes.begin(), sizeof header, reinterpret_cast<char*>(&header));
    change(header);
    header.header_checksum = checksum_of(header);
    std::copy_n(reinterpret_cast<const char*>(&header), sizeof header, bytes.begin());
    put(name, bytes);
  }

  TemporaryFolder folder_;
  std::string directory_ = folder_.text() + "/data";
};

TEST_F(TokensTest, WindowsOfTestsStandSideBySideAndEachTokenIsFollowedByTheNext) {
  for (const std::uint32_t width : {2U, 4U}) {
    std::filesystem::remove_all(directory_);
    write(40, 13, form(width));
    const auto data = open(4);
    EXPECT_EQ(data->size(Split::Train), 9);
    ASSERT_EQ(data->size(Split::Test), 3);
    const auto reader = data->reader({.seed = 7});
    for (std::int64_t i = 0; i < 3; ++i) {
      const auto first = static_cast<std::int32_t>(500 + 4 * i);
      EXPECT_EQ(window(*reader, Split::Test, i, 5, 4),
                (Window{{first, first + 1, first + 2, first + 3}, {first + 1, first + 2, first + 3, first + 4}}));
    }
  }
}

TEST_F(TokensTest, WindowsOfTrainingBeginWhereSeedAndEpochSay) {
  write(43, 13, form());
  const auto data = open(4), same = open(4);
  const auto reader = data->reader({.seed = 7}), again = same->reader({.seed = 7}), other = data->reader({.seed = 8});
  std::set<std::int32_t> begins, others;
  for (std::int64_t epoch = 0; epoch < 50; ++epoch) {
    const std::int32_t begin = window(*reader, Split::Train, 0, epoch, 4).symbols[0];
    ASSERT_TRUE(begin >= 0 && begin < 4) << begin;
    begins.insert(begin);
    others.insert(10 * begin + window(*other, Split::Train, 0, epoch, 4).symbols[0]);
    for (std::int64_t i = 0; i < data->size(Split::Train); ++i) {
      const Window found = window(*reader, Split::Train, i, epoch, 4);
      EXPECT_EQ(found.symbols[0], std::min<std::int64_t>(begin + 4 * i, 43 - 5));
      EXPECT_EQ(found.labels[3], found.symbols[0] + 4);
      EXPECT_EQ(window(*again, Split::Train, i, epoch, 4), found);
    }
  }
  EXPECT_EQ(begins.size(), 4U);
  EXPECT_GT(others.size(), 8U);  // the other seed's are not those of this one
}

TEST_F(TokensTest, BatchesAreTheSameFromAnyStepOn) {
  write(400, 13, form());
  const auto data = open(4);
  const BatchOptions options = training_batches(8, DType::f32, {}, 3);
  const auto symbols_of = [](const Batch& batch) {
    const auto* symbols = static_cast<const std::int32_t*>(batch.samples);
    return TokenList(symbols, symbols + 32);
  };
  Batches whole(*data, options, host()), late(*data, options, host());
  whole.start(1);
  late.start(1, 5);
  for (int i = 0; i < 5; ++i) whole.next();
  const Batch *one = whole.next(), *other = late.next();
  EXPECT_EQ(symbols_of(*one), symbols_of(*other));
}

TEST_F(TokensTest, ManyShardsAreReadAsOneButNoWindowCrossesTheirBorder) {
  write(40, 9, form(), 11);  // shards of 11, 11, 11 and 7 have 2, 2, 2 and 1 windows
  EXPECT_TRUE(std::filesystem::exists(file("train-0003.bin")) && !std::filesystem::exists(file("train-0004.bin")));
  const auto data = open(4);
  ASSERT_EQ(data->size(Split::Train), 7);
  TokenList begins;
  for (std::int64_t i = 0; i < 7; ++i) {
    Window found{TokenList(4), TokenList(4)};
    data->read(Split::Train, i, found.symbols.data(), found.labels.data());
    begins.push_back(found.symbols[0]);
    EXPECT_EQ(found.labels[3], begins.back() + 4);
  }
  EXPECT_EQ(begins, (TokenList{0, 4, 11, 15, 22, 26, 33}));
}

TEST_F(TokensTest, WhatFollowsAnEndTokenIsNoLabelIfBordersAreIgnored) {
  write(40, 13, form(2, 502));
  const auto labels = [&](const Sequences& data) { return window(*data.reader({}), Split::Test, 0, 0, 4).labels; };
  EXPECT_EQ(labels(*open(4)), (TokenList{501, 502, 503, 504}));
  EXPECT_EQ(labels(*open(4, ",ignore-borders", kVocabulary, -1)), (TokenList{501, 502, -1, 504}));
  EXPECT_EQ(labels(*open(4, ",ignore-borders", kVocabulary, 0)), (TokenList{501, 502, 0, 504}));
  EXPECT_PRED2(says, error_from([&] { open(4, ",ignore-borders"); }, Exit::Usage),
               R"(takes a network whose loss ignores a label: {"op": "cross_entropy", "ignore": -1)");
  std::filesystem::remove_all(directory_);
  write(40, 13, form());
  EXPECT_PRED2(says, error_from([&] { open(4, ",ignore-borders", kVocabulary, -1); }), "documents have no end token");
}

TEST_F(TokensTest, ATokenBeyondTheNetworksSymbolsIsNamedWithShardAndOffset) {
  write(40, 13, form(), 30);
  EXPECT_EQ(open(4, "", 513)->size(Split::Test), 3);
  EXPECT_PRED2(says, refused(4, 509), "/val-0000.bin: token 509 at offset 9 is beyond the symbols that the network");
  EXPECT_PRED2(says, refused(4, 33), "/train-0001.bin: token 33 at offset 3 is beyond");
}

TEST_F(TokensTest, TooLittleForAWindowIsRefused) {
  write(40, 13, form());
  EXPECT_EQ(open(12)->size(Split::Test), 1);
  EXPECT_PRED2(says, refused(13),
               "/data: has 13 tokens for tests, but windows of 13 take 14 in one shard; `set` length=L");
  EXPECT_PRED2(says, refused(40), "/data: has 40 tokens for training, but windows of 40 take 41 in one shard");
  std::filesystem::remove_all(directory_);
  write(40, 0, form());
  EXPECT_EQ(open(4)->size(Split::Test), 0);
}

TEST_F(TokensTest, MissingShardsAreRefused) {
  EXPECT_PRED2(says, refused(), "tokens: " + directory_ + ": no such directory; `train tokenize` makes one");
  std::filesystem::create_directory(directory_);
  EXPECT_PRED2(says, refused(), "/data: has no train-0000.bin");
  std::filesystem::remove(directory_);
  write(40, 13, form(), 15);
  std::filesystem::remove(file("train-0002.bin"));
  EXPECT_PRED2(says, refused(), "/train-0002.bin: cannot be opened");
  std::filesystem::rename(file("train-0001.bin"), file("train-0002.bin"));
  std::filesystem::copy_file(file("train-0000.bin"), file("train-0001.bin"));
  EXPECT_PRED2(says, refused(), "/train-0001.bin: is shard 0 of its split by its header");
}

TEST_F(TokensTest, DamageIsFound) {
  write(40, 13, form(), 30);
  const std::string good = bytes_in(file("train-0001.bin"));
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 4);
    put("train-0001.bin", bad);
    EXPECT_PRED2(says, refused(), "/train-0001.bin: ") << at;
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{63}, std::size_t{64}, good.size() - 1}) {
    put("train-0001.bin", good.substr(0, size));
    EXPECT_PRED2(says, refused(), "/train-0001.bin: ") << size;
  }
  put("train-0001.bin", good + "x");
  EXPECT_PRED2(says, refused(), "/train-0001.bin: has 21 bytes of tokens, its header says 10 tokens of 2");
  put("train-0001.bin", good);
  EXPECT_EQ(open(4)->size(Split::Train), 7 + 2);
}

TEST_F(TokensTest, AShardUnlikeTheOthersIsRefused) {
  write(60, 13, form(), 30);
  const auto refused_with = [&](const auto& change) {
    const std::string good = bytes_in(file("train-0001.bin"));
    change_header("train-0001.bin", change);
    const std::string said = refused();
    put("train-0001.bin", good);
    return said;
  };
  EXPECT_PRED2(says, refused_with([](ShardHeader& h) { h.width = 4, h.count = 15, h.vocabulary = 1 << 30; }),
               "/train-0001.bin: tokens have 4 bytes, those of " + file("train-0000.bin") + " have 2");
  EXPECT_PRED2(says, refused_with([](ShardHeader& h) { h.vocabulary = 999; }), "is of another vocabulary than ");
  EXPECT_PRED2(says, refused_with([](ShardHeader& h) { h.vocabulary = 50; }),
               "/train-0001.bin: token 50 at offset 20 is beyond the vocabulary that its header says, 50");
  EXPECT_PRED2(says, refused_with([](ShardHeader& h) { h.width = 3; }), "tokens have 3 bytes, expected 2 or 4");
  EXPECT_PRED2(says, refused_with([](ShardHeader& h) { h.version = 2; }),
               "is of version 2, this program reads version");
  EXPECT_PRED2(says, refused_with([](ShardHeader& h) { h.vocabulary = 0; }), "says a vocabulary of 0 tokens");
}

TEST_F(TokensTest, AHeaderThatContradictsTheFilesIsRefused) {
  write(60, 13, form(), 30);
  const auto refused_with = [&](const char* shard, const auto& change) {
    const std::string good = bytes_in(file(shard));
    change_header(shard, change);
    const std::string said = refused();
    put(shard, good);
    return said;
  };
  EXPECT_PRED2(says, refused_with("train-0000.bin", [](ShardHeader& h) { h.last = 1; }),
               "/train-0000.bin: is the last of its split by its header, but " + file("train-0001.bin") + " is there");
  EXPECT_PRED2(says, refused_with("train-0001.bin", [](ShardHeader& h) { h.last = 0; }),
               "/train-0002.bin: cannot be opened");
  for (const std::uint32_t last : {2U, 0xffffffffU})
    EXPECT_PRED2(says, refused_with("train-0001.bin", [last](ShardHeader& h) { h.last = last; }),
                 message("/train-0001.bin: the header says ", last, " for whether it is the last, expected 0 or 1"));
  EXPECT_PRED2(says, refused_with("train-0000.bin", [](ShardHeader& h) { h.end = kVocabulary; }),
               "/train-0000.bin: the header says an end token of 1000 in a vocabulary of 1000");
  EXPECT_PRED2(says, refused_with("train-0001.bin", [](ShardHeader& h) { h.reserved[1] = 1; }),
               "/train-0001.bin: the header has what version 1 has not, in bytes 52 to 59");
  EXPECT_PRED2(says, refused_with("val-0000.bin", [](ShardHeader& h) { h.kind = TokenKind::Pairs; }),
               "/val-0000.bin: is of another vocabulary than " + file("train-0000.bin"));
}

TEST_F(TokensTest, TextIsMadeOfTokensByWhatStandsBesideThem) {
  write(40, 13, form());
  EXPECT_EQ(open(4)->vocabulary()->text_of('a'), "a");
  EXPECT_EQ(open(4)->vocabulary()->size(), 256);
  change_header("train-0000.bin", [](ShardHeader& h) { h.kind = TokenKind::Characters; });
  change_header("val-0000.bin", [](ShardHeader& h) { h.kind = TokenKind::Characters; });
  EXPECT_PRED2(says, error_from([&] { open(4)->vocabulary(); }), "/data/characters.txt: cannot be opened");
  put("characters.txt", "a\u00e9");
  EXPECT_EQ(open(4)->vocabulary()->symbols_of("\u00e9a"), (TokenList{1, 0}));
  EXPECT_EQ(open(4)->vocabulary()->text_of(1), "\u00e9");
}

TEST_F(TokensTest, NothingIsThereUntilAllIs) {
  {
    TokenWriter writer(directory_ + '/', form(), 10);
    writer.add(Split::Train, TokenList(25, 1));
    writer.put("note", "x");
    EXPECT_FALSE(std::filesystem::exists(directory_));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
  write(40, 13, form());
  EXPECT_PRED2(says, error_from([&] { TokenWriter(directory_, form(), 10); }, Exit::Usage),
               "/data: is there already, with something in it; remove it, or name another directory");
  EXPECT_PRED2(says, error_from([&] { TokenWriter(file("val-0000.bin"), form(), 10); }, Exit::Usage),
               "is there already, and no directory");
  std::filesystem::remove_all(directory_);
  std::filesystem::create_directory(directory_);
  write(40, 13, form());  // in the place of an empty one
  EXPECT_EQ(open(4)->size(Split::Train), 9);
}

TEST_F(TokensTest, OneProcessAtATimeMakesADirectory) {
  TokenWriter writer(directory_, form(), 10);
  writer.add(Split::Train, TokenList(25, 1));
  EXPECT_PRED2(says, error_from([&] { TokenWriter(directory_, form(), 10); }, Exit::Usage),
               "/data: another process is making it; wait for its end, or name another directory");
  writer.finish(Split::Train);
  writer.commit();
  EXPECT_EQ(open(4)->size(Split::Train), 2 + 2 + 1);
}

}  // namespace
}  // namespace lethe::testing
