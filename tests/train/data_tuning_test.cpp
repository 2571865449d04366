// Texts to tune on: lines of JSON, and the windows that they stand in.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/train/data_samples.h"
#include "tests/train/token_samples.h"
#include "train/data/batches.h"
#include "train/data/held_out.h"
#include "train/data/json_lines.h"
#include "train/data/packing.h"
#include "train/data/sequences.h"

namespace lethe::testing {
namespace {

using Symbols = std::vector<std::int32_t>;

const PackedInputs kPacked{.symbols = "text", .positions = "text.positions"};

struct TunedWindow {
  Symbols symbols, positions, labels;
  bool operator==(const TunedWindow&) const = default;
};

TunedWindow window_of(const Sequences& data, Split split, std::int64_t index) {
  const auto length = static_cast<std::size_t>(data.info().length);
  const bool packed = !data.inputs(DType::f32).empty();
  Symbols sample(packed ? 2 * length : length), labels(length);
  data.reader({})->read(split, index, 0, reinterpret_cast<std::byte*>(sample.data()), labels.data());
  const auto middle = sample.begin() + static_cast<std::ptrdiff_t>(length);
  return {{sample.begin(), middle}, {middle, sample.end()}, labels};
}

class TuningTextsTest : public ::testing::Test {
 protected:
  std::string put(const std::string& lines) const {
    folder_.write("texts.jsonl", lines);
    return folder_.text() + "/texts.jsonl";
  }
  std::string refused(const std::string& lines) const {
    const std::string file = put(lines);
    const std::string line = error_from([&] { read_json_lines(file); });
    return line.starts_with(file) ? line.substr(file.size()) : line;
  }
  /// Of the characters abcd and a blank; the tenth text is a test.
  std::unique_ptr<Sequences> open(const std::string& lines, std::int64_t length, const PackedInputs& inputs = kPacked,
                                  const std::string& more = "") {
    return open_sequences("jsonl:" + put(lines) + more, length, 9, 0, -1, {}, inputs,
                          [this](const std::string& line) { notes_.push_back(line); });
  }

  TemporaryFolder folder_;
  std::vector<std::string> notes_ = {};
};

TEST_F(TuningTextsTest, AreReadLineByLine) {
  const std::vector<TuningText> texts =
      read_json_lines(put("{\"prompt\": \"a \\u00e9\", \"completion\": \"b\"}\r\n\n  "
                          "\n{\"completion\":\"c\\n\",\"prompt\":\"\"}\n{\"text\": "
                          "\"d\"}"));
  ASSERT_EQ(texts.size(), 3U);
  EXPECT_EQ(texts[0].prompt, "a \xc3\xa9");
  EXPECT_EQ(texts[0].completion, "b");
  EXPECT_EQ(texts[1].completion, "c\n");
  EXPECT_EQ(texts[2].prompt, "");
  EXPECT_EQ(texts[2].completion, "d");
  EXPECT_EQ(texts[2].line, 5);
}

TEST_F(TuningTextsTest, WhatIsNoneIsRefusedByItsLine) {
  const std::string expected = R"(: expected {"prompt": TEXT, "completion": TEXT} or {"text": TEXT})";
  const std::string good = "{\"text\": \"a\"}\n";
  EXPECT_EQ(refused(good + "{\"prompt\": \"a\"}"), ":2" + expected);
  EXPECT_EQ(refused(good + "\n{\"prompt\": \"a\", \"text\": \"b\"}"), ":3" + expected);
  EXPECT_EQ(refused("{}"), ":1" + expected);
  EXPECT_EQ(refused("[\"text\"]"), ":1" + expected);
  EXPECT_EQ(refused("{\"text\": 1}"), ":1" + expected);
  EXPECT_EQ(refused("{\"text\": null}"), ":1" + expected);
  EXPECT_EQ(refused("{\"text\": [\"a\"]}"), ":1" + expected);
  EXPECT_EQ(refused("{\"text\": {\"text\": \"a\"}}"), ":1" + expected);
  EXPECT_EQ(refused("\"text\""), ":1" + expected);
  EXPECT_EQ(refused("{\"text\": \"a\""), ":1: is no JSON at byte 13");
  EXPECT_EQ(refused("{\"text\": \"a\"} {}"), ":1: is no JSON at byte 15");
  EXPECT_EQ(refused("{\"text\": \"\xff\"}"), ":1: is no JSON at byte 11");
  EXPECT_EQ(refused("{\"text\": \"\"}"), ":1: the text is empty");
  EXPECT_EQ(refused("{\"prompt\": \"a\", \"completion\": \"\"}"), ":1: the completion is empty");
  EXPECT_EQ(refused("{\"text\": \"a\", \"text\": \"b\"}"), ":1: 'text' stands twice");
  EXPECT_EQ(refused("{\"promt\": \"a\"}"),
            ":1: unknown key 'promt'; did you mean 'prompt'?; known: prompt, completion, text");
  EXPECT_EQ(refused("{\"messages\": []}"),
            ":1: messages become a text by a model's chat template, and none is applied; write \"prompt\" and "
            "\"completion\" as the template would put them");
  EXPECT_EQ(refused("\n"), ": has no text");
}

TEST(WindowsOfTexts, AreFilledByTheFirstOfTheFullest) {
  EXPECT_EQ(windows_of_texts(Symbols{5, 6, 4, 5, 8, 3, 2, 1, 10}, 10), (Symbols{0, 1, 1, 0, 2, 3, 2, 3, 4}));
  EXPECT_EQ(windows_of_texts(Symbols{}, 10), Symbols{});
}

/// What nine texts for training and one for tests become.
const std::string kLines = [] {
  std::string lines = "{\"prompt\": \"ab\", \"completion\": \"cd\"}\n{\"text\": \"dcb\"}\n";
  for (int i = 0; i < 8; ++i) lines += "{\"prompt\": \"a\", \"completion\": \"bb\"}\n";
  return lines;
}();

TEST_F(TuningTextsTest, StandTogetherInAWindowAsFarAsTheyHaveRoom) {
  const auto data = open(kLines, 8);
  EXPECT_EQ(data->info().alphabet, "abcd");
  EXPECT_EQ(data->inputs(DType::f32), (std::vector<lethe::SampleInput>{{"text", 32}, {"text.positions", 32}}));
  EXPECT_EQ(data->sample_bytes(DType::f32), 64);
  EXPECT_EQ(data->size(Split::Train), 3);
  EXPECT_EQ(data->size(Split::Test), 1);
  // abc|d, dc|b, a|b|b and a place that is left.
  EXPECT_EQ(window_of(*data, Split::Train, 0),
            (TunedWindow{{0, 1, 2, 3, 2, 0, 1, 0}, {0, 1, 2, 0, 1, 0, 1, 0}, {-1, 2, 3, 2, 1, 1, 1, -1}}));
  EXPECT_EQ(window_of(*data, Split::Test, 0),
            (TunedWindow{{0, 1, 0, 0, 0, 0, 0, 0}, {0, 1, 0, 0, 0, 0, 0, 0}, {1, 1, -1, -1, -1, -1, -1, -1}}));
  ASSERT_EQ(notes_.size(), 1U);
  EXPECT_NE(notes_[0].find("/texts.jsonl: 9 texts for training in 3 windows of 8, 1 for tests in 1; tokens used: 21, "
                           "padded: 11, cut: 0"),
            std::string::npos)
      << notes_[0];
}

TEST_F(TuningTextsTest, StandAloneWhereTheNetworkTakesOneOrTheSpecSays) {
  for (const auto& [inputs, more] : {std::pair(PackedInputs{}, ""), {kPacked, ",no-pack"}}) {
    const auto data = open(kLines, 4, inputs, more);
    EXPECT_TRUE(data->inputs(DType::f32).empty());
    EXPECT_EQ(data->size(Split::Train), 9);
    EXPECT_EQ(window_of(*data, Split::Train, 0), (TunedWindow{{0, 1, 2, 0}, {}, {-1, 2, 3, -1}}));
    EXPECT_EQ(window_of(*data, Split::Train, 1), (TunedWindow{{3, 2, 0, 0}, {}, {2, 1, -1, -1}}));
  }
}

TEST_F(TuningTextsTest, AreCutAtTheirEndAndLeftOutWhereOnlyThePromptHasRoom) {
  const auto data = open(kLines + "{\"prompt\": \"abcd\", \"completion\": \"a\"}\n{\"text\": \"abcd\"}\n", 2);
  EXPECT_EQ(data->size(Split::Train), 11 - 1);
  EXPECT_EQ(window_of(*data, Split::Train, 0), (TunedWindow{{0, 1}, {0, 1}, {-1, 2}}));
  ASSERT_EQ(notes_.size(), 2U);
  EXPECT_NE(notes_[0].find("tokens used: 22, padded: 0, cut: 2"), std::string::npos) << notes_[0];
  EXPECT_NE(notes_[1].find("texts of which nothing to learn has room, and which are left out: 1"), std::string::npos);
}

TEST_F(TuningTextsTest, SayHowManyHaveNoRoomWhereNoneIsLeft) {
  std::string lines;
  for (int i = 0; i < 20; ++i) lines += "{\"prompt\": \"abcd\", \"completion\": \"a\"}\n";
  for (const char* more : {"", ",val=0.3"})
    EXPECT_PRED2(says, error_from([&] { open(lines, 2, kPacked, more); }),
                 "has 0 texts to learn from and 0 for tests; of 20 others nothing to learn has room in 2 places");
}

TEST_F(TuningTextsTest, HoldOutAShareByTheirNumbers) {
  std::string lines;
  for (int i = 0; i < 40; ++i) lines += "{\"text\": \"abc\"}\n";
  const auto data = open(lines, 2, kPacked, ",val=0.25");
  std::int64_t held = 0;
  for (std::int64_t i = 0; i < 40; ++i) held += is_held_out(i, 0.25);
  EXPECT_EQ(data->size(Split::Test), held);
  EXPECT_EQ(data->size(Split::Train), 40 - held);
}

TEST_F(TuningTextsTest, TakeTenAndANetworkThatIgnoresALabel) {
  EXPECT_NE(error_from([&] { open("{\"text\": \"abc\"}\n", 4); }).find("has 1 texts to learn from and 0 for tests"),
            std::string::npos);
  EXPECT_NE(error_from([&] { open_sequences("jsonl:" + put(kLines), 8, 9, 0); }, Exit::Usage)
                .find("whose loss ignores a label"),
            std::string::npos);
  const Meaning known{.alphabet = "abc"};
  EXPECT_NE(error_from([&] {
              open_sequences("jsonl:" + put(kLines), 8, 9, 0, -1, known, kPacked);
            }).find("texts.jsonl:1: character 4 is 'd', which is none of the 3"),
            std::string::npos);
}

/// 257 is "low", 258 is "er", and 264 ends a text.
TEST_F(TuningTextsTest, EndAsTheTokenizerSaysAndAreTokensInOnePiece) {
  folder_.write("vocab.json", vocabulary_json(kFewMerges));
  folder_.write("merges.txt", merges_text(kFewMerges));
  std::string lines = "{\"prompt\": \"l\", \"completion\": \"ow\"}\n{\"prompt\": \"a \", \"completion\": \"b\"}\n";
  for (int i = 0; i < 8; ++i) lines += "{\"text\": \"er\"}\n";
  std::vector<std::string> notes;
  const auto data = open_sequences("jsonl:" + put(lines) + ",tokenizer=" + folder_.text(), 5, 265, 0, -1, {}, kPacked,
                                   [&](const std::string& line) { notes.push_back(line); });
  EXPECT_EQ(data->end_symbol(), 264);
  EXPECT_EQ(window_of(*data, Split::Train, 0),
            (TunedWindow{{257, 97, 32, 98, 258}, {0, 0, 1, 2, 0}, {264, -1, 98, 264, 264}}));
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_NE(notes[1].find("prompts whose last token goes on into the completion, and is learned with it: 1"),
            std::string::npos)
      << notes[1];
}

}  // namespace
}  // namespace lethe::testing
