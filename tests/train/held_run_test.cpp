// A run holds what it is to be read by: its network, what labels and symbols mean, checksums.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "framework/formatted.h"
#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"
#include "tests/train/token_samples.h"
#include "train/session/run_state.h"
#include "train/session/safetensors.h"

namespace lethe::testing {
namespace {

constexpr const char* kTinyText = R"({
  "version": 1, "name": "chars", "vars": {"vocab": 12, "length": 8},
  "inputs": {"text": {"shape": ["=length"], "dtype": "i32"}, "next": {"shape": ["=length"], "dtype": "i32"}},
  "layers": [{"op": "embedding", "vocab": "=vocab", "out": "=vocab", "name": "table"}],
  "loss": [{"op": "cross_entropy", "in": "table", "target": "next"}],
  "train": {"batch": 4, "steps": 30, "lr": 1}
})";
constexpr const char* kTinyTexts = R"({
  "version": 1, "name": "texts", "vars": {"vocab": 12, "length": 4, "classes": 2},
  "inputs": {"text": {"shape": ["=length"], "dtype": "i32"}, "label": {"shape": [], "dtype": "i32"}},
  "layers": [{"op": "embedding", "vocab": "=vocab", "out": 8}, {"op": "flatten"},
             {"op": "fc", "out": "=classes", "name": "logits"}],
  "loss": [{"op": "cross_entropy", "in": "logits", "target": "label"}],
  "train": {"batch": 4, "steps": 60, "lr": 0.5}
})";

class HeldRun : public RunTest {
 protected:
  void write(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories((home_ / name).parent_path());
    std::ofstream(home_ / name, std::ios::binary) << content;
  }
  void edit(const std::string& name, const std::string& before, const std::string& after) const {
    std::string content = bytes_in(path(name));
    const std::size_t at = content.find(before);
    ASSERT_NE(at, std::string::npos) << name;
    write(name, content.replace(at, before.size(), after));
  }
  /// Runs it in a directory of the test.
  Ended run_in(const std::string& directory, std::vector<std::string> args) const {
    if (args[0] != "export" && args[0] != "tokenize") args.insert(args.end(), {"--threads", "1"});
    const std::string there = path(directory);
    return run_train(args, {.before = [there] { EXPECT_EQ(chdir(there.c_str()), 0); }});
  }
  std::string out_of(std::vector<std::string> args) const {
    const Ended ended = run_in("", std::move(args));
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended.out;
  }
  /// The line of a command that must end with `code`.
  std::string refusal_of(std::vector<std::string> args, int code) const {
    const Ended ended = run_in("", std::move(args));
    EXPECT_EQ(ended.code, code) << ended.out << ended.err;
    const std::string line = ended.err.substr(std::min(ended.err.rfind("train: error: "), ended.err.size()));
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << ended.err;
    return line;
  }
};

TEST_F(HeldRun, ReadsFromAnywhereWhateverBecomesOfItsNetworkFile) {
  std::filesystem::create_directory(path("elsewhere"));
  const std::vector<std::string> train = {"--model",  "small.json", "--data", "shapes:train=160,test=40",
                                          "--epochs", "1"};
  const auto with = [](std::vector<std::string> args, std::initializer_list<std::string> more) {
    args.insert(args.end(), more);
    return args;
  };
  ASSERT_EQ(run_in("", with(train, {"--save", "run"})).code, 0);
  ASSERT_EQ(run_in("", with(train, {"--save", "whole", "--epochs", "2", "--schedule", "constant"})).code, 0);
  const std::string scored = out_of({"eval", "--weights", "run"});
  const std::string network = bytes_in(path("small.json"));
  edit("small.json", "relu", "gelu");
  EXPECT_EQ(bytes_in(path("run/network/small.json")), network);
  for (const std::string directory : {"", "elsewhere"}) {
    const std::string run = path("run");
    const Ended eval = run_in(directory, {"eval", "--weights", run});
    EXPECT_EQ(eval.out, scored) << eval.err;
    const Ended shown = run_in(directory, {"show", "--weights", run});
    EXPECT_PRED2(says, shown.out, "relu1") << shown.err;
    EXPECT_FALSE(says(shown.out, "gelu")) << shown.out;
    EXPECT_EQ(run_in(directory, {"export", "--weights", run, "--output", path("w")}).code, 0);
  }
  EXPECT_PRED2(says, refusal_of({"eval", "--weights", "run", "--model", "small.json"}, 2),
               "--model small.json: is not the network of the run in run/best; without --model its own copy");
  EXPECT_PRED2(says, refusal_of({"--resume", "run", "--model", "small.json", "--epochs", "2"}, 2), "another 'small'");
  std::filesystem::remove(path("small.json"));
  const Ended resumed = run_in("elsewhere", {"--resume", path("run"), "--epochs", "2", "--schedule", "constant"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_TRUE(std::filesystem::exists(path("run/step-000020/network/small.json")));
  EXPECT_EQ(read_state(path("run/latest")).options.at("model"), "small.json");
}

TEST_F(HeldRun, KeepsTheVariantThatWasTrained) {
  out_of({"--model", "resnet20", "--data", "synthetic:8", "--batch", "4", "--steps", "1", "--save", "run",
          "--eval-every", "0"});
  EXPECT_EQ(network_in("run", read_state(path("run"))), "run/network/resnet_cifar.json#resnet20");
  EXPECT_EQ(out_of({"show", "--weights", "run"}), out_of({"show", "--model", "resnet20"}));
  EXPECT_PRED2(says, refusal_of({"show", "--model", "run/network/resnet_cifar.json#no"}, 2), "no variant 'no'");
}

TEST_F(HeldRun, OfAnOlderVersionIsComparedWithItsNetworkFile) {
  out_of(small({"--epochs", "1", "--save", path("run")}));
  nlohmann::ordered_json state = nlohmann::ordered_json::parse(bytes_in(path("run/best/state.json")));
  for (const char* later : {"alphabet", "tokenizer", "network_file", "variant", "checksums", "checksum"})
    ASSERT_EQ(state.erase(later), 1U) << later;
  write("run/best/state.json", state.dump());
  const std::string scored = out_of({"eval", "--weights", "run"});
  EXPECT_PRED2(says, scored, "samples 40");
  edit("small.json", "relu", "gelu");
  EXPECT_PRED2(says, refusal_of({"eval", "--weights", "run"}, 2), "small.json: has changed since the run in run/best");
}

TEST_F(HeldRun, ADamagedFileIsNamed) {
  for (const std::string form : {"whole", "sharded"}) {
    out_of(small({"--epochs", "1", "--save", path(form), "--checkpoint", form}));
    const std::string checkpoint = form + "/latest/";
    std::vector<std::string> files = {"state.json", "network/small.json"};
    if (form == "whole")
      files.insert(files.end(), {"weights.safetensors", "optimizer.safetensors"});
    else
      files.insert(files.end(), {"shares.json", "rank-0-of-1.safetensors"});
    for (const std::string& name : files) {
      const std::string good = bytes_in(path(checkpoint + name));
      for (const std::size_t part : {2U, 5U, 9U}) {
        std::string damaged = good;
        damaged[good.size() * part / 10] ^= 4;
        write(checkpoint + name, damaged);
        EXPECT_PRED2(says, refusal_of({"--resume", form, "--epochs", "2"}, 4), name) << part;
        const bool is_read = name != "optimizer.safetensors" && (form == "whole" || part == 2);
        if (is_read) {
          EXPECT_PRED2(says, refusal_of({"eval", "--weights", form + "/latest"}, 4), name) << part;
        }
      }
      write(checkpoint + name, good);
    }
  }
}

TEST_F(HeldRun, MatchesFoldersByTheNamesOfTheirClasses) {
  const auto picture = [&](const std::string& name, std::uint8_t colour, std::uint8_t number) {
    const FileContent bytes = png(8, 8, 3, FileContent(8 * 8 * 3, static_cast<std::uint8_t>(colour + number)));
    write(name, {bytes.begin(), bytes.end()});
  };
  for (std::uint8_t number = 0; number < 10; ++number) {
    for (const std::string folder : {"a/black/", "b/black/", "c/black/"})
      picture(message(folder, int{number}, ".png"), 10, number);
    for (const std::string folder : {"a/white/", "b/apple/"})
      picture(message(folder, int{number}, ".png"), 220, number);
  }
  edit("small.json", "\"out\": 4", "\"out\": 2");
  out_of({"--model", "small.json", "--data", "imagefolder:a", "--batch", "6", "--epochs", "8", "--save", "run",
          "--augment", "none"});
  EXPECT_PRED2(says, out_of({"eval", "--weights", "run"}), "acc 1.0000");
  EXPECT_PRED2(says, out_of({"eval", "--weights", "run", "--data", "imagefolder:c"}), "acc 1.0000")
      << "a class without pictures";
  for (const auto& command : std::vector<std::vector<std::string>>{
           {"eval", "--weights", "run"}, {"predict", "--weights", "run", "a/black"}, {"--resume", "run"}}) {
    std::vector<std::string> args = command;
    args.insert(args.end(), {"--data", "imagefolder:b"});
    EXPECT_PRED2(says, refusal_of(args, 4), "b/apple: is none of the classes that are trained: black, white");
  }
  EXPECT_PRED2(says, refusal_of({"eval", "--weights", "run", "--data", "synthetic:40"}, 4),
               "where the run has class 'black'");
  const Ended anew = run_in("", {"--weights", "run", "--model", "small.json", "--data", "imagefolder:b", "--steps=1"});
  EXPECT_PRED2(says, anew.err, "labels are apple, black; to the run beside --weights they were black, white");
}

TEST_F(HeldRun, MatchesTextByItsAlphabet) {
  write("chars.json", kTinyText);
  std::string text;
  while (text.size() < 800) text += "the cat ate ";
  write("a.txt", text);
  write("more.txt", "!" + text);
  out_of({"--model", "chars.json", "--data", "text:a.txt", "--save", "run"});
  EXPECT_PRED2(says, refusal_of({"eval", "--weights", "run", "--data", "text:more.txt"}, 4),
               "more.txt: byte 0 is '!', which is none of the 6 characters that the run knows");
  EXPECT_PRED2(says, refusal_of({"--resume", "run", "--steps", "60", "--data", "text:more.txt"}, 4), "byte 0 is '!'");
  EXPECT_PRED2(says, refusal_of({"--weights", "run", "--model", "chars.json", "--data", "text:more.txt"}, 4),
               "byte 0 is '!'");
  EXPECT_PRED2(says, refusal_of({"eval", "--weights", "run", "--data", "synthetic"}, 4),
               "synthetic: symbols stand for nothing, those of the run for the 6 characters ' aceht'");
  // Where only two of the six are there, these are still what they were: the table says what the loss is.
  std::string few;
  while (few.size() < 800) few += "tata";
  write("few.txt", few);
  SafetensorsReader reader(path("run/best/weights.safetensors"));
  const std::vector<std::byte> bytes = reader.read(*reader.find("table.weight"));
  const auto surprise = [&](int before, int after) {
    const float* const row = reinterpret_cast<const float*>(bytes.data()) + before * 12;
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += std::exp(row[i]);
    return std::log(sum) - row[after];
  };
  const int a = 1, t = 5;  // of " aceht"
  EXPECT_PRED2(says, out_of({"eval", "--weights", "run", "--data", "text:few.txt"}),
               formatted("loss %.4f", (surprise(a, t) + surprise(t, a)) / 2));
  std::filesystem::remove(path("a.txt"));
  const std::string written =
      out_of({"generate", "--weights", "run", "--prompt", "th", "--tokens", "4", "--temperature", "0", "--quiet"});
  EXPECT_EQ(written.substr(0, 4), "the ");
}

TEST_F(HeldRun, MatchesTablesByLabelAndAlphabet) {
  write("texts.json", kTinyTexts);
  std::string rows, other, renamed;
  for (int i = 0; i < 30; ++i) {
    rows += i % 2 ? "x\tab\n" : "y\tba\n";
    other += "y\tba\n";
    renamed += i % 2 ? "w\tab\n" : "y\tba\n";
  }
  write("a.tsv", rows);
  write("only_y.tsv", other);
  write("renamed.tsv", renamed);
  out_of({"--model", "texts.json", "--data", "tsv:a.tsv", "--save", "run"});
  EXPECT_PRED2(says, out_of({"eval", "--weights", "run"}), "acc 1.0000");
  EXPECT_PRED2(says, out_of({"eval", "--weights", "run", "--data", "tsv:only_y.tsv"}), "acc 1.0000");
  EXPECT_PRED2(says, refusal_of({"eval", "--weights", "run", "--data", "tsv:renamed.tsv"}, 4),
               "label 'w' is none of those that are trained: x, y");
  std::filesystem::remove(path("a.tsv"));
  write("what.txt", "ba\n");
  EXPECT_PRED2(says, out_of({"predict", "--weights", "run", "what.txt", "--top", "1"}), "y");
}

TEST_F(HeldRun, KnowsItsTokenizer) {
  write("chars.json", kTinyText);
  write("gpt2/vocab.json", vocabulary_json(kFewMerges));
  write("gpt2/merges.txt", merges_text(kFewMerges));
  SpelledMerges other = kFewMerges;
  std::swap(other[0], other[2]);
  write("other/vocab.json", vocabulary_json(kFewMerges));
  write("other/merges.txt", merges_text(other));
  std::string text;
  while (text.size() < 800) text += "low lower newer ";
  write("a.txt", text);
  out_of({"tokenize", "a.txt", "--tokenizer", "gpt2/", "--out", "as_gpt2"});
  out_of({"tokenize", "a.txt", "--tokenizer", "chars", "--out", "as_chars"});
  out_of({"--model", "chars.json", "--set", "vocab=265", "--data", "tokens:as_gpt2", "--save", "run", "--steps", "2"});
  EXPECT_PRED2(says, read_state(path("run")).meaning.tokenizer, "bpe of 265 tokens, checksum ");
  EXPECT_PRED2(says, refusal_of({"eval", "--weights", "run", "--data", "tokens:as_chars"}, 4),
               "those of the run for bpe of 265 tokens");
  const std::vector<std::string> generate = {"generate", "--weights", "run",           "--prompt", "low",
                                             "--tokens", "2",         "--temperature", "0",        "--quiet"};
  const auto by = [&](std::vector<std::string> args, const std::string& folder) {
    args.insert(args.end(), {"--tokenizer", folder});
    return args;
  };
  EXPECT_EQ(out_of(by(generate, "gpt2")), out_of(generate));
  std::filesystem::create_directory(path("shards"));
  for (const char* name : {"train-0000.bin", "val-0000.bin"})
    std::filesystem::copy_file(path(std::string("as_gpt2/") + name), path(std::string("shards/") + name));
  const std::vector<std::string> of_shards = {"--model", "chars.json", "--set",  "vocab=265",
                                              "--steps", "2",          "--data", "tokens:shards"};
  out_of(of_shards);  // which can be trained on without the vocabulary's files
  EXPECT_PRED2(says, refusal_of(by(generate, "other"), 4), "those of the run for bpe of 265 tokens") << "other merges";
}

TEST_F(HeldRun, WeightsFromElsewhereNeedToBeToldWhatSymbolsMean) {
  write("chars.json", kTinyText);
  write("a.txt", [] {
    std::string text;
    while (text.size() < 800) text += "the cat ate ";
    return text;
  }());
  out_of({"--model", "chars.json", "--data", "text:a.txt", "--save", "run"});
  std::filesystem::copy_file(path("run/weights.safetensors"), path("w.safetensors"));
  const std::vector<std::string> from = {"--model", "chars.json", "--weights", "w.safetensors"};
  for (const auto& command : std::vector<std::vector<std::string>>{
           {"eval"}, {"generate", "--prompt", "the"}, {"--steps", "1"}, {"lr-find"}}) {
    std::vector<std::string> args = command;
    args.insert(args.end(), from.begin(), from.end());
    EXPECT_PRED2(says, refusal_of(args, 2), "--data is missing: no run stands beside w.safetensors to say what");
    args.insert(args.end(), {"--data", "text:a.txt"});
    EXPECT_EQ(run_in("", args).code, 0) << command[0];
  }
}

TEST_F(HeldRun, SaysWhatComputesOtherwise) {
  out_of(small({"--epochs", "1", "--save", path("run"), "--no-winograd", "--fast-f32"}));
  out_of(small({"--epochs", "1", "--save", path("tuned"), "--autotune", "choices.json"}));
  const auto said = [&](const std::string& run, std::vector<std::string> more) {
    more.insert(more.begin(), {"eval", "--weights", run});
    return run_in("", more).err;
  };
  EXPECT_PRED2(says, said("run", {}), "note: the run computed with --fast-f32, --no-winograd: last digits may differ");
  EXPECT_PRED2(says, said("run", {"--fast-f32"}), "computed with --no-winograd:");
  EXPECT_FALSE(says(said("run", {"--fast-f32", "--no-winograd"}), "note:"));
  EXPECT_PRED2(says, said("tuned", {}), "computed with --autotune /");
  EXPECT_FALSE(says(said("tuned", {"--autotune", "choices.json"}), "note:"));
}

}  // namespace
}  // namespace lethe::testing
