// Texts with a label each, and a network that learns them.
#include <gtest/gtest.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "models/network.h"
#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"
#include "tests/train/token_samples.h"
#include "train/data/folder_tokenizer.h"
#include "train/data/labelled_texts.h"
#include "train/session/fed_data.h"
#include "train/session/programs.h"

namespace lethe::testing {
namespace {

using Symbols = std::vector<std::int32_t>;

struct Labelled {
  std::int32_t label;
  Symbols symbols;
  bool operator==(const Labelled&) const = default;
};

Labelled text_at(const LabelledTexts& data, Split split, std::int64_t index) {
  Labelled text{0, Symbols(static_cast<std::size_t>(data.info().length))};
  text.label = data.read(split, index, text.symbols.data());
  return text;
}

class Texts : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.text() + "/" + name; }
  std::unique_ptr<LabelledTexts> open(const std::string& spec, std::int64_t length = 4, const Notify& notify = {}) {
    return open_labelled_texts(spec, length, 300, 2, 0, notify);
  }
  /// The message on a file of such content.
  std::string refused(const std::string& content) {
    folder_.write("bad.tsv", content);
    return error_from([&] { open("tsv:" + path("bad.tsv")); });
  }
  TemporaryFolder folder_;
};

/// Ten lines of "x\tab" but for the last, which is "y\tabcab".
std::string ten_lines(const std::string& end) {
  std::string lines;
  for (int line = 0; line < 9; ++line) lines += (line == 4 ? "y\tba" : "x\tab") + end;
  return lines + "y\tabcab" + end;
}

TEST_F(Texts, AreBytesBeforeZeros) {
  for (const char* end : {"\n", "\r\n"}) {
    folder_.write("a.tsv", ten_lines(end));
    std::vector<std::string> notes;
    const auto data = open("tsv:" + path("a.tsv"), 4, [&](const std::string& line) { notes.push_back(line); });
    EXPECT_EQ(data->classes(), (std::vector<std::string>{"x", "y"}));
    EXPECT_EQ(data->size(Split::Train), 9);
    EXPECT_EQ(data->size(Split::Test), 1) << "each tenth";
    EXPECT_EQ(text_at(*data, Split::Train, 0), (Labelled{0, {1, 2, 0, 0}}));
    EXPECT_EQ(text_at(*data, Split::Train, 4), (Labelled{1, {2, 1, 0, 0}}));
    EXPECT_EQ(text_at(*data, Split::Test, 0), (Labelled{1, {1, 2, 3, 1}}));
    ASSERT_EQ(notes.size(), 2U);
    EXPECT_EQ(notes[0], "tsv: " + path("a.tsv") + ": 9 texts for training and 1 for tests, of 2 classes");
    EXPECT_PRED2(says, notes[1], "longer than the 4 symbols that the network reads, and cut there: 1");
  }
}

TEST_F(Texts, StandInColumnsThatAHeaderNames) {
  folder_.write("train.tsv", "sentence\tlabel\nab\t1\nb\t0\n");
  folder_.write("dev.tsv", "index\tlabel\ttext\n7\t1\tba\n");
  const auto data = open("tsv:" + folder_.text());
  EXPECT_EQ(data->size(Split::Train), 2);
  EXPECT_EQ(text_at(*data, Split::Train, 1), (Labelled{0, {2, 0, 0, 0}}));
  EXPECT_EQ(text_at(*data, Split::Test, 0), (Labelled{1, {2, 1, 0, 0}}));
}

TEST_F(Texts, StandInColumnsHoweverAHeaderSpellsTheirNames) {
  for (const char* header : {"Label\tText", "LABEL\tSENTENCE", "label\tText"}) {
    folder_.write("a.tsv", message(header, '\n', ten_lines("\n")));
    const auto data = open("tsv:" + path("a.tsv"));
    EXPECT_EQ(data->classes(), (std::vector<std::string>{"x", "y"})) << header;
    EXPECT_EQ(data->size(Split::Train) + data->size(Split::Test), 10) << header;
  }
  folder_.write("a.tsv", "Text\tLabel\n" + std::string("ab\tx\n") + "ba\ty\n");
  EXPECT_PRED2(says, error_from([&] { open("tsv:" + path("a.tsv")); }), "has 2 texts; each tenth is for tests");
}

TEST_F(Texts, AreTokensOfATokenizer) {
  folder_.write("gpt2/vocab.json", vocabulary_json(kFewMerges));
  folder_.write("gpt2/merges.txt", merges_text(kFewMerges));
  folder_.write("train.tsv", "0\tlow\n1\tlower low\n");
  folder_.write("test.tsv", "1\tz\n");
  const auto data = open("tsv:" + folder_.text() + ",tokenizer=" + path("gpt2"));
  EXPECT_EQ(text_at(*data, Split::Train, 0).symbols, (Symbols{258, 0, 0, 0}));
  EXPECT_EQ(text_at(*data, Split::Train, 1).symbols, (Symbols{258, 259, 260, 0}));
  EXPECT_EQ(text_at(*data, Split::Test, 0).symbols, (Symbols{'z' + 1, 0, 0, 0}));
}

/// [CLS] is 2, [SEP] 3, and padding 0 by the vocabulary itself.
TEST_F(Texts, AreBertsPiecesInTheirFrame) {
  const std::string bert = LETHE_SOURCE_DIR "/tests/oracles/tokens/bert";
  folder_.write("train.tsv", "0\tthe\n1\tthe text that the tokens make\n");
  folder_.write("test.tsv", "1\tThe\n");
  const auto data = open_labelled_texts("tsv:" + folder_.text() + ",tokenizer=" + bert, 5, 399, 2, 0);
  const std::int32_t the = open_folder_tokenizer(bert).tokenizer->token_of(" the").value();
  EXPECT_EQ(text_at(*data, Split::Train, 0).symbols, (Symbols{2, the, 3, 0, 0}));
  const Symbols cut = text_at(*data, Split::Train, 1).symbols;
  EXPECT_EQ(cut.at(1), the);
  EXPECT_EQ(cut.at(4), 3) << "what has no room goes before the end of the frame";
  EXPECT_EQ(text_at(*data, Split::Test, 0).symbols, (Symbols{2, the, 3, 0, 0})) << "small letters";
  EXPECT_PRED2(says,
               error_from([&] { open_labelled_texts("tsv:" + folder_.text() + ",tokenizer=" + bert, 2, 399, 2, 0); }),
               "the network reads 2 symbols, of which 2 stand beside each text");
  EXPECT_PRED2(says,
               error_from([&] { open_labelled_texts("tsv:" + folder_.text() + ",tokenizer=" + bert, 5, 398, 2, 0); }),
               "has 399 symbols with padding, the network reads 398");
}

TEST_F(Texts, LinesThatAreNoneAreNamed) {
  EXPECT_PRED2(says, refused("x\ta\nno tab\n"), "bad.tsv:2: columns: 1, expected 2");
  EXPECT_PRED2(says, refused("x\ta\ny\tb\tc\n"), "bad.tsv:2: columns: 3, expected 2");
  EXPECT_PRED2(says, refused("label\ttext\n\tb\n"), "bad.tsv:2: the label is empty");
  EXPECT_PRED2(says, refused("label\ttext\nx\ta\nx\t\n"), "bad.tsv:3: the text is empty");
  EXPECT_PRED2(says, refused("label\twords\nx\ta\n"),
               "bad.tsv:1: names a column 'label' and none 'sentence' or 'text'");
  EXPECT_PRED2(says, refused(""), "bad.tsv: has no line with a label and a text");
  EXPECT_PRED2(says, refused("x\ta\ny\tb\n"), "has 2 texts; each tenth is for tests");
  std::string unknown = ten_lines("\n");
  unknown.replace(unknown.rfind('y'), 1, "z");
  EXPECT_PRED2(says, refused(unknown), "bad.tsv:10: label 'z' is none of those that are trained: x, y");
  folder_.write("train.tsv", "x\ta\ny\tb\n");
  const auto directory = [&] { open("tsv:" + folder_.text()); };
  EXPECT_PRED2(says, error_from(directory), "has no dev.tsv, val.tsv or test.tsv");
  folder_.write("val.tsv", "x\ta\nz\tb\n");
  EXPECT_PRED2(says, error_from(directory), "val.tsv:2: label 'z' is none of those that are trained: x, y");
}

TEST_F(Texts, AreReadAsFastWhereEachHasALabelOfItsOwn) {
  constexpr int kRows = 40000;
  const auto seconds = [&](bool own_labels) {
    std::string lines;
    for (int row = 0; row < kRows; ++row) lines += message(own_labels && row % 10 != 9 ? row : 0, "\tab\n");
    folder_.write("a.tsv", lines);
    const std::clock_t begin = std::clock();  // of the processor: the machine may be busy
    open_labelled_texts("tsv:" + path("a.tsv"), 4, 300, own_labels ? kRows / 10 * 9 : 1, 0);
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  EXPECT_LT(seconds(true), 10 * seconds(false));
}

TEST_F(Texts, FitTheNetwork) {
  folder_.write("a.tsv", ten_lines("\n"));
  const auto opened = [&](std::int64_t symbols, std::int64_t classes) {
    return error_from([&] { open_labelled_texts("tsv:" + path("a.tsv"), 4, symbols, classes, 0); });
  };
  EXPECT_PRED2(says, opened(3, 2), "has 4 symbols with padding, the network reads 3; `set` vocab=4");
  EXPECT_PRED2(says, opened(4, 3), "has 2 classes, the network tells 3 apart; `set` classes=2");
  const auto wrong = [](const std::string& spec) {
    return error_from([&] { open_labelled_texts(spec, 4, 30, 2, 0); }, Exit::Usage);
  };
  EXPECT_PRED2(says, wrong("text:x"), "gives sequences, the network takes texts with a label each (known: tsv:PATH");
  EXPECT_PRED2(says, wrong("tsv"), "write the path after a colon: tsv:PATH");
  const Network bert = build_network({.model = "bert", .sets = {{"vocab", "28"}}, .batch = 2}, true);
  EXPECT_EQ(open_data({}, 0, build_network({.model = "bert"}, true))->name(), "subjects");
  EXPECT_PRED2(says, error_from([&] { open_data({}, 0, bert); }), "has 29 symbols with padding, the network reads 28");
}

/// Texts are good or bad by one of their words.
class TextRun : public RunTest {
 protected:
  void write_reviews() const {
    const std::vector<std::string> words = {"a", "film", "so", "it", "was", "the", "plot"};
    const std::vector<std::string> good = {"good", "fine"}, bad = {"sad", "poor"};
    std::ofstream file(path("reviews.tsv"));
    file << "sentence\tlabel\n";
    for (std::size_t i = 0; i < 200; ++i) {
      const bool is_good = i / 7 % 2 == 0;  // whatever the other words are
      file << words[i % 7] << ' ' << (is_good ? good : bad)[i / 3 % 2] << ' ' << words[i * 3 % 5]
           << (is_good ? "\tgood\n" : "\tbad\n");
    }
  }
};

TEST_F(TextRun, LearnsWhatTellsClassesApartAndSaysSo) {
  write_reviews();
  const Ended run = run_train({"--model", "bert", "--set", "length=16,width=16,heads=2,layers=1,dropout=0", "--data",
                               "tsv:" + path("reviews.tsv"), "--batch", "20", "--steps", "120", "--lr", "0.01",
                               "--save", path("run"), "--threads", "1"});
  ASSERT_EQ(run.code, 0) << run.err;
  const Ended eval = run_train({"eval", "--weights", path("run"), "--by-class", "--format", "json", "--threads", "1"});
  ASSERT_EQ(eval.code, 0) << eval.err;
  const nlohmann::json scores = nlohmann::json::parse(eval.out);
  EXPECT_EQ(scores["samples"], 20);
  EXPECT_GE(scores["accuracy"], 0.95) << eval.out;
  EXPECT_FALSE(scores.contains("perplexity"));
  EXPECT_EQ(scores["classes"][0]["class"], "bad");
  std::ofstream(path("new.txt")) << "the film was good\nso sad a plot\r\nXYZ\n\n";
  const Ended predicted = run_train({"predict", "--weights", path("run"), "--top", "1", path("new.txt")});
  EXPECT_EQ(predicted.code, 4) << "an unknown character";
  EXPECT_PRED2(says, predicted.out, path("new.txt:1") + "  good ");
  EXPECT_PRED2(says, predicted.out, path("new.txt:2") + "  bad ");
  EXPECT_PRED2(says, predicted.err, path("new.txt:3") + ": character 1 is 'X'");
  EXPECT_PRED2(says, predicted.err, path("new.txt:4") + ": the text is empty");
}

}  // namespace
}  // namespace lethe::testing
