// `train tokenize`, and what a run and an evaluation make of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>

#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"
#include "tests/train/token_samples.h"
#include "train/data/mapped_file.h"

namespace lethe::testing {
namespace {

using TokenList = std::vector<int>;

constexpr const char* kReader = R"({
  "version": 1, "name": "reader",
  "inputs": {"text": {"shape": [8], "dtype": "i32"}, "next": {"shape": [8], "dtype": "i32"}},
  "layers": [{"op": "embedding", "vocab": 300, "out": 8}, {"op": "fc", "out": 300, "flatten": false, "name": "logits"}],
  "loss": [{"op": "cross_entropy", "in": "logits", "target": "next", "ignore": -1}],
  "train": {"batch": 4, "epochs": 1, "lr": 0.1}
})";

class TokenizeCommand : public RunTest {
 protected:
  void put(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << content;
  }
  /// Tokenizes files of the folder into `out`.
  Ended tokenize(const std::vector<std::string>& files, std::vector<std::string> more) const {
    std::vector<std::string> args = {"tokenize"};
    for (const std::string& file : files) args.push_back(path(file));
    more.insert(more.end(), {"--out", path("out")});
    args.insert(args.end(), more.begin(), more.end());
    return run_train(args);
  }
  /// The tokens of a shard, which have two bytes each.
  TokenList tokens(const std::string& shard) const {
    const std::string bytes = bytes_in(path("out/" + shard)).substr(64);
    TokenList found;
    for (std::size_t i = 0; i + 1 < bytes.size(); i += 2)
      found.push_back(static_cast<unsigned char>(bytes[i]) | static_cast<unsigned char>(bytes[i + 1]) << 8);
    return found;
  }
  nlohmann::json description() const { return nlohmann::json::parse(bytes_in(path("out/tokens.json"))); }
  void expect_refused(const Ended& ended, int code, const std::string& part) const {
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_NE(ended.err.find(part), std::string::npos) << ended.err;
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
    EXPECT_FALSE(std::filesystem::exists(path("out")));
    EXPECT_FALSE(std::filesystem::exists(path(".out.new")));
  }
};

TEST_F(TokenizeCommand, BytesAreTokensAndTheLastTenthIsForTests) {
  put("text", "0123456789abcdefghij");
  const Ended ended = tokenize({"text"}, {});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, "tokens train 18 val 2 documents 1 vocabulary 256 bytes 2\n");
  EXPECT_EQ(tokens("val-0000.bin"), (TokenList{'i', 'j'}));
  EXPECT_EQ(tokens("train-0000.bin").size(), 18U);
  EXPECT_EQ(description()["tokenizer"], "bytes");
  EXPECT_EQ(description()["end_token"], nullptr);
}

TEST_F(TokenizeCommand, CharactersAreThoseThatOccur) {
  put("text", "\u00e9ab\nb\u00e9");
  EXPECT_EQ(tokenize({"text"}, {"--tokenizer", "chars", "--val", "0"}).code, 0);
  EXPECT_EQ(bytes_in(path("out/characters.txt")), "\nab\u00e9");
  EXPECT_EQ(tokens("train-0000.bin"), (TokenList{3, 1, 2, 0, 2, 3}));
  EXPECT_EQ(description()["vocabulary"], 4);
}

TEST_F(TokenizeCommand, ASplitWithinACharacterStandsAfterIt) {
  put("text", "abc\u00e9def");  // half of its 8 bytes are those up to the middle of the letter
  EXPECT_EQ(tokenize({"text"}, {"--tokenizer", "chars", "--val", "50"}).code, 0);
  EXPECT_EQ(tokens("train-0000.bin").size(), 4U);
  EXPECT_EQ(tokens("val-0000.bin").size(), 3U);
}

TEST_F(TokenizeCommand, DocumentsEndWithTheirToken) {
  put("one", "ab\n---\ncd\n---\n");
  put("two",
      "\xef\xbb\xbf"
      "e");
  EXPECT_EQ(tokenize({"one", "two"}, {"--separator", "\n---\n", "--end-token", "END", "--val", "0"}).out,
            "tokens train 8 val 0 documents 3 vocabulary 257 bytes 2\n");
  EXPECT_EQ(tokens("train-0000.bin"), (TokenList{'a', 'b', 256, 'c', 'd', 256, 'e', 256}));
  EXPECT_EQ(description()["end_token"], nlohmann::json({{"text", "END"}, {"number", 256}}));
  EXPECT_EQ(description()["documents"], 3);
}

TEST_F(TokenizeCommand, PairsByGpt2sFilesWhichAreCopied) {
  put("gpt2/encoder.json", vocabulary_json(kFewMerges));
  put("gpt2/vocab.bpe", merges_text(kFewMerges));
  put("text", "a low newer");
  const Ended ended = tokenize({"text"}, {"--tokenizer", path("gpt2"), "--val", "0"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(tokens("train-0000.bin"), (TokenList{'a', 259, ' ', 261, 258, 264}));
  EXPECT_EQ(bytes_in(path("out/vocab.json")), vocabulary_json(kFewMerges));
  EXPECT_EQ(bytes_in(path("out/merges.txt")), merges_text(kFewMerges));
  EXPECT_EQ(description()["tokenizer"], "bpe");
  EXPECT_EQ(description()["end_token"]["text"], "<|endoftext|>");
}

TEST_F(TokenizeCommand, AByteOrderMarkIsTextToGpt2sTokensAlone) {
  put("gpt2/vocab.json", vocabulary_json(kFewMerges));
  put("gpt2/merges.txt", merges_text(kFewMerges));
  put("text",
      "\xef\xbb\xbf"
      "a low");
  for (const auto& [tokenizer, found] : {std::pair{path("gpt2"), TokenList{0xef, 0xbb, 0xbf, 'a', 259, 264}},
                                         {std::string("bytes"), TokenList{'a', ' ', 'l', 'o', 'w'}},
                                         {std::string("chars"), TokenList{1, 0, 2, 3, 4}}}) {
    EXPECT_EQ(tokenize({"text"}, {"--tokenizer", tokenizer, "--val", "0"}).code, 0);
    EXPECT_EQ(tokens("train-0000.bin"), found) << tokenizer;
    std::filesystem::remove_all(path("out"));
  }
}

TEST_F(TokenizeCommand, ALongTextIsTheSameInPiecesAndShards) {
  std::string text;
  for (int i = 0; i < 150'000; ++i) text += std::to_string(i % 977);
  put("text", text);
  EXPECT_EQ(tokenize({"text"}, {"--val", "0", "--shard-tokens", "100000"}).code, 0);
  std::string found;
  const nlohmann::json shards = description()["train"]["shards"];
  for (const auto& shard : shards)
    for (const int token : tokens(shard.get<std::string>())) found += static_cast<char>(token);
  EXPECT_EQ(shards.size(), text.size() / 100000 + 1);
  EXPECT_EQ(found, text);
}

TEST_F(TokenizeCommand, RefusesInOneLineAndLeavesNothing) {
  put("text", "some text");
  put("empty", "");
  put("latin", "caf\xe9 noir");
  put("packed", "\x1f\x8b\x08 and more");
  expect_refused(tokenize({"none"}, {}), 4, "none: cannot be opened");
  expect_refused(tokenize({"empty"}, {}), 4, "empty: there is no text to make tokens of");
  expect_refused(tokenize({"packed"}, {}), 4, "packed: is packed by gzip");
  expect_refused(tokenize({"text", "latin"}, {"--tokenizer", "chars"}), 4, "latin: byte 3, 0xE9, is no UTF-8");
  expect_refused(tokenize({"text"}, {"--tokenizer", path("none")}), 4, "none: no such directory, which is to have");
  expect_refused(tokenize({"text"}, {"--val", "100"}), 2, "--val: 100 percent leave nothing to train on");
  expect_refused(tokenize({"text"}, {"--val", "-1"}), 2, "--val");
  put("vocab.json", vocabulary_json(kFewMerges));
  put("merges.txt", merges_text(kFewMerges));
  expect_refused(tokenize({"text"}, {"--tokenizer", path(""), "--end-token", "END"}), 4, "'END' is no token of ");
  put("merges.txt", "a b\n");
  expect_refused(tokenize({"text"}, {"--tokenizer", path("")}), 4,
                 "merges.txt:1: the merge 'a b' needs the token 'ab'");
}

TEST_F(TokenizeCommand, WritesOverNothing) {
  put("text", "some text");
  std::filesystem::create_directory(path("out"));
  put("out/mine", "x");
  const Ended ended = tokenize({"text"}, {});
  EXPECT_EQ(ended.code, 2);
  EXPECT_NE(ended.err.find("out: is there already, with something in it"), std::string::npos) << ended.err;
  EXPECT_EQ(bytes_in(path("out/mine")), "x");
}

TEST_F(TokenizeCommand, AFullDiskLeavesNothing) {
  put("text", std::string(400'000, 'x'));
  const Ended ended = run_train({"tokenize", path("text"), "--out", path("out"), "--quiet"}, {.file = 100'000});
  expect_refused(ended, 4, "train-0000.bin': File too large");
}

TEST_F(TokenizeCommand, ARunLearnsAndResumesToTheSameBits) {
  put("reader.json", kReader);
  std::string text;
  for (int i = 0; i < 300; ++i) text += "abcabd\n";
  put("text", text);
  ASSERT_EQ(tokenize({"text"}, {"--separator", "d\n", "--end-token", "END"}).code, 0);
  const std::vector<std::string> args = {"--model",
                                         path("reader.json"),
                                         "--threads",
                                         "1",
                                         "--quiet",
                                         "--data",
                                         "tokens:" + path("out") + ",ignore-borders"};
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.begin(), args.begin(), args.end());
    const Ended ended = run_train(more);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.out;
  };
  const std::string whole = run({"--steps", "60", "--save", path("whole"), "--eval-every", "0"});
  run({"--steps", "25", "--save", path("parts"), "--eval-every", "0"});
  run({"--steps", "60", "--resume", path("parts"), "--eval-every", "0"});
  EXPECT_EQ(checkpoint_bytes("parts"), checkpoint_bytes("whole"));
}

TEST_F(TokenizeCommand, AShardThatIsCutWhileItIsTrainedEndsTheRunWithALineAndACheckpoint) {
  put("reader.json", kReader);
  std::string text;
  for (int i = 0; i < 30'000; ++i) text += "abcabd\n";
  put("text", text);
  ASSERT_EQ(tokenize({"text"}, {}).code, 0);
  TrainProcess run({"--model", path("reader.json"), "--threads", "1", "--quiet", "--data", "tokens:" + path("out"),
                    "--steps", "100000000", "--eval-every", "0", "--log-every", "1", "--save", path("run")});
  ASSERT_TRUE(TrainProcess::wait_until([&] { return bytes_in(path("run/metrics.csv")).size() > 500; }));
  std::filesystem::resize_file(path("out/train-0000.bin"), 100);
  const Ended ended = run.wait();
  EXPECT_EQ(ended.code, 4) << "signal " << ended.signal;
  EXPECT_EQ(ended.err, message("train: error: ", path("out/train-0000.bin"),
                               ": was cut, or could not be read any more, while it was in use\n"));
  EXPECT_GT(nlohmann::json::parse(bytes_in(path("run/state.json")))["step"], 0);
}

/// Three pages of a letter.
std::string three_pages(char letter) {
  return std::string(static_cast<std::size_t>(3 * sysconf(_SC_PAGESIZE)), letter);
}

TEST_F(TokenizeCommand, AMappedFileThatIsCutHasZerosAndSaysSo) {
  put("cut", three_pages('x'));
  put("whole", three_pages('y'));
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (int round = 0; round < 3; ++round) {
    put("cut", three_pages('x'));
    const MappedFile cut(path("cut")), whole(path("whole"));
    EXPECT_EQ(cut.text().back(), 'x');
    cut.check_whole();
    std::filesystem::resize_file(path("cut"), page);
    EXPECT_EQ(cut.text()[page - 1], 'x');
    EXPECT_EQ(cut.text()[page], '\0');
    EXPECT_EQ(cut.text().back(), '\0');
    EXPECT_EQ(whole.text().back(), 'y');
    EXPECT_PRED2(says, error_from([&] { cut.check_whole(); }), path("cut") + ": was cut");
    whole.check_whole();
  }
}

TEST_F(TokenizeCommand, AMappedFileThatIsCutWithinAPageSaysSoToo) {
  const std::size_t page = three_pages('x').size() / 3;
  for (const std::size_t left : {page + 10, 3 * page - 5, std::size_t{0}}) {
    put("cut", three_pages('x'));
    const MappedFile cut(path("cut"));
    EXPECT_EQ(cut.text()[0], 'x');  // no other page is touched
    cut.check_whole();
    std::filesystem::resize_file(path("cut"), left);
    EXPECT_PRED2(says, error_from([&] { cut.check_whole(); }), path("cut") + ": was cut") << left;
  }
  put("cut", three_pages('x'));
  MappedFile first(path("cut"));
  const MappedFile moved(std::move(first));
  std::filesystem::remove(path("cut"));  // what is mapped stays
  EXPECT_EQ(moved.text().back(), 'x');
  moved.check_whole();
}

using MappedFileDeathTest = TokenizeCommand;

TEST_F(MappedFileDeathTest, ASignalOfAnotherCauseEndsTheProcess) {
  put("file", "x");
  EXPECT_DEATH(
      {
        const MappedFile file(path("file"));
        std::raise(SIGBUS);
      },
      "");
}

TEST_F(TokenizeCommand, ScoresOfSequencesHaveTheirPerplexity) {
  put("reader.json", kReader);
  std::string text;
  for (int i = 0; i < 200; ++i) text += "abcabd\n";
  put("text", text);
  ASSERT_EQ(tokenize({"text"}, {}).code, 0);
  const Ended trained = run_train({"--model", path("reader.json"), "--threads", "1", "--quiet", "--data",
                                   "tokens:" + path("out"), "--steps", "40", "--save", path("run")});
  EXPECT_EQ(trained.code, 0) << trained.err;
  EXPECT_NE(trained.out.find(" perplexity "), std::string::npos) << trained.out;
  const Ended scored = run_train({"eval", "--weights", path("run"), "--threads", "1", "--format", "json"});
  EXPECT_EQ(scored.code, 0) << scored.err;
  const nlohmann::json scores =
      nlohmann::json::parse(scored.out.substr(scored.out.rfind('\n', scored.out.size() - 2) + 1));
  EXPECT_NEAR(scores["perplexity"].get<double>(), std::exp(scores["loss"].get<double>()), 1e-6);
}

}  // namespace
}  // namespace lethe::testing
