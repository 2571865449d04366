// `train generate`: text that a network writes on from a prompt.
#include <gtest/gtest.h>

#include <cstring>

#include "kernels/cuda/device.h"
#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"
#include "train/session/next_logits.h"
#include "train/session/safetensors.h"

namespace lethe::testing {
namespace {

/// Says of each symbol which follows by a table of its own.
constexpr const char* kTable = R"({
  "version": 1, "name": "table", "vars": {"symbols": 4},
  "inputs": {"text": {"shape": [8], "dtype": "i32"}, "next": {"shape": [8], "dtype": "i32"}},
  "layers": [{"op": "embedding", "vocab": "=symbols", "out": "=symbols", "name": "table"}],
  "loss": [{"op": "cross_entropy", "in": "table", "target": "next"}]
})";

class Generate : public RunTest {
 protected:
  Ended generate(std::vector<std::string> more) const {
    more.insert(more.begin(), {"generate", "--threads", "1"});
    return run_train(more);
  }
  /// The second symbol of each pair is likely after the first; after another one all may follow.
  void write_table(std::int64_t symbols, const std::vector<std::pair<int, int>>& likely) const {
    std::ofstream(path("table.json")) << kTable;
    std::vector<float> table(static_cast<std::size_t>(symbols * symbols));
    for (const auto& [before, after] : likely) table[static_cast<std::size_t>(before * symbols + after)] = 50;
    SafetensorsWriter writer(path("table.safetensors"), {{.name = "table.weight", .shape = {symbols, symbols}}});
    std::vector<std::byte> bytes(table.size() * sizeof(float));
    std::memcpy(bytes.data(), table.data(), bytes.size());
    writer.write(bytes);
    writer.finish();
  }
  /// The options of a network that says d after c, c after b, b after a, and of d that all may follow.
  std::vector<std::string> table(std::vector<std::string> more) const {
    write_table(4, {{0, 1}, {1, 2}, {2, 3}});
    std::ofstream(path("abcd.txt")) << std::string(200, 'a') + "bcd" + std::string(100, 'b');
    more.insert(more.begin(), {"--model", path("table.json"), "--weights", path("table.safetensors"), "--data",
                               "text:" + path("abcd.txt")});
    return more;
  }
  /// Trains a little on sentences; windows are short, so that text goes beyond them.
  void train_on_sentences() const {
    const Ended run =
        run_train({"--model", "transformer", "--set", "length=12,width=16,heads=2", "--data",
                   "sentences:train=400,test=40", "--epochs", "1", "--save", path("run"), "--threads", "1"});
    ASSERT_EQ(run.code, 0) << run.err;
  }
  std::string text(std::vector<std::string> more) const {
    more.insert(more.begin(), {"--weights", path("run"), "--prompt", "the cat", "--tokens", "40"});
    const Ended ended = generate(more);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.out;
  }
};

TEST(WindowBegin, MovesOnByHalfWhenTheContextIsFull) {
  std::vector<std::int64_t> begins;
  for (std::int64_t position = 1; position <= 10; ++position) begins.push_back(window_begin(position, 4));
  EXPECT_EQ(begins, (std::vector<std::int64_t>{0, 0, 0, 0, 2, 2, 4, 4, 6, 6}));
  EXPECT_EQ(window_begin(9, 1), 8);
  EXPECT_EQ(window_begin(6, 5), 3);
}

TEST_F(Generate, WritesWhatIsLikeliest) {
  const Ended ended = generate(table({"--prompt", "ab", "--tokens", "2", "--temperature", "0"}));
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, "abcd\n");
  EXPECT_PRED2(says, ended.err, "2 symbols in ");
  EXPECT_PRED2(says, ended.err, ", as predicted");
  EXPECT_EQ(generate(table({"--prompt", "ab", "--tokens", "2", "--temperature", "0", "--quiet"})).err, "");
}

TEST_F(Generate, ReadsAndWritesTokensAsTheirText) {
  std::vector<std::string> args = table({"--prompt", "ab", "--tokens", "2", "--temperature", "0"});
  const Ended made = run_train({"tokenize", path("abcd.txt"), "--tokenizer", "chars", "--out", path("tokens")});
  ASSERT_EQ(made.code, 0) << made.err;
  args.insert(args.end(), {"--data", "tokens:" + path("tokens")});
  const Ended ended = generate(args);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, "abcd\n");
  args.insert(args.end(), {"--prompt", "abx"});
  const Ended refused = generate(args);
  EXPECT_EQ(refused.code, 4) << refused.err;
  EXPECT_PRED2(says, refused.err, "--prompt: ");
}

/// A network of tokens with an end, which follows c here; a follows it.
TEST_F(Generate, EndsWithTheDocument) {
  write_table(6, {{0, 1}, {1, 2}, {2, 5}, {5, 0}});
  std::ofstream(path("abc.txt")) << "abcdzabcdz" << std::string(100, 'a');
  const Ended made = run_train({"tokenize", path("abc.txt"), "--tokenizer", "chars", "--end-token", "<end>",
                                "--separator", "z", "--out", path("tokens"), "--val", "0"});
  ASSERT_EQ(made.code, 0) << made.err;
  const std::vector<std::string> args = {"--model",       path("table.json"),
                                         "--set",         "symbols=6",
                                         "--weights",     path("table.safetensors"),
                                         "--data",        "tokens:" + path("tokens"),
                                         "--prompt",      "ab",
                                         "--tokens",      "6",
                                         "--temperature", "0"};
  const Ended ended = generate(args);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, "abc\n");
  EXPECT_PRED2(says, ended.err, "wrote 2 symbols in ");
  std::vector<std::string> on = args;
  on.push_back("--ignore-eos");
  EXPECT_EQ(generate(on).out, "abc\n<|endoftext|>\nabc\n<|endoftext|>\n\n");
}

TEST_F(Generate, EndsBeforeAText) {
  const auto ended_before = [&](const std::string& stop) {
    return generate(table({"--prompt", "a", "--tokens", "3", "--temperature", "0", "--stop", stop})).out;
  };
  EXPECT_EQ(ended_before("cd"), "ab\n");
  EXPECT_EQ(ended_before("c"), "ab\n");
  EXPECT_EQ(ended_before("ca"), "abcd\n");
  EXPECT_EQ(ended_before("de"), "abcd\n");
  EXPECT_EQ(ended_before("a"), "abcd\n");  // the prompt's
}

TEST_F(Generate, TakesWhatItSaysWithACacheThatIsFilledInBlocks) {
  const Ended run = run_train({"--model", "char_gpt_cpu", "--set", "length=16,width=16,heads=2,layers=2", "--data",
                               "sentences:train=40,test=4", "--epochs", "1", "--batch", "8", "--save", path("run"),
                               "--threads", "1"});
  ASSERT_EQ(run.code, 0) << run.err;
  std::string first;
  for (const char* memopt : {"none", "level=1,release", "level=2"}) {
    const Ended ended =
        generate({"--weights", path("run"), "--prompt", "the cat sees a", "--tokens", "20", "--memopt", memopt});
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_PRED2(says, ended.err, "read 14 symbols in ");
    EXPECT_PRED2(says, ended.err, ", as predicted");
    if (first.empty()) first = ended.out;
    EXPECT_EQ(ended.out, first) << memopt;
  }
}

TEST_F(Generate, WritesTheSameTextUnderEveryMemorySetting) {
  train_on_sentences();
  const std::string first = text({});
  ASSERT_EQ(first.size(), 7U + 40 + 1);
  EXPECT_EQ(first.substr(0, 7), "the cat");
  EXPECT_EQ(text({}), first);
  for (const char* memopt : {"none", "level=0", "level=1", "level=1,release", "level=2"})
    EXPECT_EQ(text({"--memopt", memopt}), first) << memopt;
  EXPECT_NE(text({"--seed", "1"}), first);
  EXPECT_EQ(text({"--top-k", "1"}), text({"--temperature", "0", "--seed", "5"}));
}

TEST_F(Generate, SaysBeforehandWhatItTakes) {
  const std::vector<std::string> network = {"--model", "char_gpt_cpu", "--dtype", "f32"};
  const auto plan = [&](std::vector<std::string> more) {
    more.insert(more.begin(), network.begin(), network.end());
    more.emplace_back("--plan");
    const Ended ended = generate(more);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.out;
  };
  const std::string cached = plan({});
  EXPECT_PRED2(says, cached, "char_gpt_cpu: text, with a cache of 64 symbols, f32");
  EXPECT_PRED2(says, cached, "\ncache             0.25\n");  // 4 layers' keys and values of 64 symbols, 128 wide
  EXPECT_PRED2(says, cached, "state 262144 ");
  EXPECT_PRED2(says, plan({"--no-cache"}), "reading 64 symbols again for each");
  if (has_cuda()) {
    EXPECT_PRED2(says, plan({"--device", "h200"}), "state 262144 ");
  }
  const Ended saved = run_train({"--model", "char_gpt_cpu", "--data", "sentences:train=64,test=64", "--steps", "1",
                                 "--save", path("run"), "--threads", "1"});
  ASSERT_EQ(saved.code, 0) << saved.err;
  const Ended ended = generate({"--weights", path("run"), "--prompt", "the", "--tokens", "1"});
  const std::string predicted = cached.substr(cached.find("memory predicted"));
  EXPECT_PRED2(says, ended.err, predicted);
  EXPECT_PRED2(says, ended.err, ", as predicted");
  EXPECT_EQ(generate({"--weights", path("run"), "--plan"}).out, cached);
  for (const std::string option : {"--prompt", "--tokens", "--stop", "--temperature", "--top-k", "--top-p"})
    EXPECT_PRED2(says, generate({"--weights", path("run"), "--plan", option, "1"}).err, option + " excludes --plan");
  EXPECT_PRED2(says, generate({"--weights", path("run"), "--plan", "--ignore-eos"}).err,
               "--ignore-eos excludes --plan");
}

TEST_F(Generate, RefusesWhatItCannotContinue) {
  const auto refused = [&](const std::vector<std::string>& args, const std::string& words, int code = 2) {
    const Ended ended = generate(args);
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_EQ(ended.out, "");
    EXPECT_PRED2(says, ended.err, words);
  };
  refused(table({"--prompt", "abx"}),
          "--prompt: character 3 is 'x', which is none of the 4 that the network knows: abcd");
  refused(table({"--prompt", "abcdabcda"}), "--prompt has 9 symbols, the network reads 8 at most");
  refused(table({"--prompt", "a", "--top-p", "0"}), "--top-p: must be above 0, at most 1, not 0");
  refused(table({}), "--prompt is required");
  refused({"--prompt", "a", "--model", "char_lstm"}, "--weights is missing");
  refused({"--prompt", "a", "--weights", path("nothing")}, "no such file", 4);
  for (const char* model : {"lenet", "bert"}) {
    std::vector<std::string> args = {"--prompt", "a", "--model", model, "--weights", path("table.safetensors")};
    refused(args, "text is continued by networks that ");
    args.emplace_back("--no-cache");
    refused(args, "text is continued by networks that ");
  }
  refused(table({"--prompt", "a", "--data", "copy"}), "its symbols stand for no text");
}

}  // namespace
}  // namespace lethe::testing
