// Whole runs of the built program.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "framework/error.h"
#include "framework/language/text.h"
#include "tests/train/run_fixture.h"

namespace lethe::testing {
namespace {

/// The values of one column of a metrics file, of the rows of a split.
std::vector<double> column(const std::string& file, std::size_t number, const std::string& split) {
  std::ifstream in(file);
  std::vector<double> values;
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
    if (cells[2] == split) values.push_back(std::stod(cells[number]));
  }
  return values;
}

constexpr std::size_t kLoss = 3, kMemory = 7;

std::string last_line_with(const std::string& text, const std::string& word) {
  const std::size_t at = text.rfind(word);
  return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
}

double mean(const std::vector<double>& values, std::size_t begin, std::size_t end) {
  double sum = 0;
  for (std::size_t i = begin; i < end; ++i) sum += values[i];
  return sum / static_cast<double>(end - begin);
}

using WholeRun = RunTest;

TEST_F(WholeRun, TheLossOfLenetFalls) {
  const Ended run =
      run_train({"--model", "lenet", "--steps", "40", "--batch", "32", "--data", "shapes:train=640,test=64",
                 "--threads", "1", "--eval-every", "0", "--log-every", "1", "--metrics", path("m.csv")});
  ASSERT_EQ(run.code, 0) << run.err;
  const std::vector<double> loss = column(path("m.csv"), kLoss, "train");
  ASSERT_EQ(loss.size(), 40U);
  EXPECT_LT(mean(loss, 30, 40), mean(loss, 0, 10) - 0.05);
}

TEST_F(WholeRun, CountsEachPixelOfAMask) {
  std::ofstream(path("pixels.json")) << R"({
    "version": 1, "name": "pixels",
    "inputs": {"image": {"shape": [3, 8, 8]}, "mask": {"shape": [8, 8], "dtype": "i32"}},
    "layers": [{"op": "conv", "out": 8, "k": 3}, {"op": "relu"}, {"op": "conv", "out": 3, "k": 1, "name": "logits"}],
    "loss": [{"op": "cross_entropy", "in": "logits", "target": "mask"}]
  })";
  for (const char* memopt : {"none", "level=2"}) {
    const Ended run = run_train({"--model", path("pixels.json"), "--data", "shape-masks:train=64,test=9", "--threads",
                                 "1", "--batch", "4", "--epochs", "1", "--memopt", memopt});
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_NE(run.out.find("samples 576"), std::string::npos) << run.out;
    EXPECT_NE(run.out.find("as predicted"), std::string::npos) << run.out;
  }
}

TEST_F(WholeRun, SaysOnceHowOftenALoopWasStoppedAtItsMax) {
  std::ofstream(path("loop.json")) << R"({
    "version": 1, "name": "loop",
    "inputs": {"image": {"shape": [3, 8, 8]}, "label": {"shape": [], "dtype": "i32"}},
    "layers": [{"op": "fc", "out": 4},
               {"while": {"state": {"h": "@in"}, "cond": [{"op": "mean", "in": "h"}, {"op": "less", "value": 9}],
                          "max": 2},
                "do": {"layers": [{"op": "fc", "in": "h", "out": 4}, {"op": "tanh", "name": "t"}], "next": {"h": "t"}},
                "name": "logits"}],
    "loss": [{"op": "cross_entropy", "in": "logits", "target": "label"}]
  })";
  const Ended run = run_train({"--model", path("loop.json"), "--data", "shapes:train=160,test=40", "--threads", "1",
                               "--batch", "16", "--steps", "3", "--eval-every", "0"});
  ASSERT_EQ(run.code, 0) << run.err;
  const std::string note = "loops were stopped at their max 3 times while their condition still held";
  const std::string all = run.out + run.err;
  EXPECT_NE(all.find(note), std::string::npos) << all;
  EXPECT_EQ(all.find(note), all.rfind(note));
}

TEST_F(WholeRun, PredictedMemoryIsWhatTheDeviceGaveToTheByte) {
  for (const char* memopt : {"none", "none,release", "level=0,inplace", "level=1,release,inplace", "level=2"})
    for (const char* eval : {"0", "1e"}) {
      const Ended run =
          run_train(small({"--memopt", memopt, "--steps", "10", "--eval-every", eval, "--metrics", path("m.csv")}));
      ASSERT_EQ(run.code, 0) << run.err;
      const std::string bytes = std::to_string(static_cast<long long>(column(path("m.csv"), kMemory, "train").back()));
      EXPECT_NE(run.out.find("memory predicted " + bytes + " bytes"), std::string::npos) << run.out;
      EXPECT_NE(run.out.find("memory taken " + bytes + " bytes, as predicted"), std::string::npos) << run.out;
    }
}

TEST_F(WholeRun, WhatABranchNotTakenWouldHoldIsSaidToBeABound) {
  const auto run = [](const std::string& memopt, const std::string& confident) {
    return run_train({"--model", "early_exit", "--set", "confident=" + confident, "--memopt", memopt, "--batch", "8",
                      "--steps", "1", "--data", "shapes:train=8,test=8", "--eval-every", "0", "--threads", "1"});
  };
  const auto number_after = [](const Ended& ended, const std::string& words) {
    const std::size_t at = ended.out.find(words);
    return at == std::string::npos ? -1 : std::stoll(ended.out.substr(at + words.size()));
  };
  const Ended less = run("level=1,release", "-1"), all = run("level=1,release", "2"), fixed = run("level=1", "-1");
  const long long bound = number_after(less, "memory predicted at most "), taken = number_after(less, "memory taken ");
  EXPECT_GT(taken, 0) << less.out << less.err;
  EXPECT_LT(taken, bound) << less.out;
  EXPECT_NE(less.out.find(message(" bytes, at most ", bound, " predicted")), std::string::npos) << less.out;
  EXPECT_EQ(number_after(all, "memory predicted at most "), bound) << all.out;
  EXPECT_EQ(number_after(all, "memory taken "), bound) << all.out;
  EXPECT_EQ(number_after(fixed, "memory predicted "), number_after(fixed, "memory taken ")) << fixed.out;
}

TEST_F(WholeRun, NoMemorySettingChangesABitOfTheResult) {
  ASSERT_EQ(run_train(small({"--memopt", "none", "--steps", "12", "--save", path("none")})).code, 0);
  const std::vector<double> loss = column(path("none/metrics.csv"), kLoss, "train");
  for (const char* memopt : {"none,release,inplace", "level=0", "level=1", "level=1,release", "level=2"}) {
    const Ended run = run_train(small({"--memopt", memopt, "--skip-grads", "--steps", "12", "--save", path(memopt)}));
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_NE(run.out.find(std::string(" -> ") + memopt + " "), std::string::npos) << run.out;
    EXPECT_EQ(checkpoint_bytes(memopt), checkpoint_bytes("none")) << memopt;
    EXPECT_EQ(column(path(memopt) + "/metrics.csv", kLoss, "train").back(), loss.back());
  }
}

TEST_F(WholeRun, TheArenaSaysHowSmallItIsAndWhatLimitsIt) {
  const Ended run = run_train(small({"--steps", "2"}));
  EXPECT_NE(run.out.find("memory none "), std::string::npos);
  EXPECT_NE(run.out.find(" -> level=2 "), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("certified minimal for any order; most live at once "), std::string::npos) << run.out;
}

TEST_F(WholeRun, ThePrintedLogNamesEveryHitAndEveryRefusal) {
  const Ended run = run_train(small({"--steps", "1", "--memopt", "level=0", "--skip-grads", "--print-log"}));
  EXPECT_NE(run.out.find("cache idx "), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("is a parameter gradient (--skip-grads)"), std::string::npos) << run.out;
}

TEST_F(WholeRun, EvaluationBetweenStepsDoesWithoutTheVarsThatTrainingSkips) {
  for (const char* memopt : {"none,inplace", "level=2"}) {
    const Ended run = run_train(
        small({"--memopt", memopt, "--skip-vars", "bn1.y@GRAD", "--steps", "4", "--eval-every", "2", "--quiet"}));
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_NE(run.out.find("\neval step 4 "), std::string::npos) << run.out;
    EXPECT_NE(run.out.find(" bytes, as predicted"), std::string::npos) << run.out;
  }
}

TEST_F(WholeRun, EvalSkipsVarsOfEvaluation) {
  ASSERT_EQ(run_train(small({"--steps", "4", "--save", path("run")})).code, 0);
  const auto eval = [&](const std::vector<std::string>& more) {
    std::vector<std::string> args = small({"--weights", path("run")});
    args.insert(args.begin(), "eval");
    args.insert(args.end(), more.begin(), more.end());
    return run_train(args);
  };
  const Ended plain = eval({}), kept = eval({"--skip-vars", "bn1.y", "--print-log"});
  ASSERT_EQ(kept.code, 0) << kept.err;
  EXPECT_EQ(last_line_with(kept.out, "eval "), last_line_with(plain.out, "eval "));
  EXPECT_NE(kept.out.find("bn1.y, which is named in --skip-vars"), std::string::npos) << kept.out;
  const Ended gradient = eval({"--skip-vars", "bn1.y@GRAD"});
  EXPECT_EQ(gradient.code, 2);
  EXPECT_NE(gradient.err.find("--skip-vars: no var named 'bn1.y@GRAD'"), std::string::npos) << gradient.err;
}

TEST_F(WholeRun, ShowPutsADeleteAfterTheLastUseOfEachBuffer) {
  const Ended shown =
      run_train({"show", "--model", path("small.json"), "--format", "program", "--memopt", "level=1,release"});
  EXPECT_NE(shown.out.find("delete_var("), std::string::npos) << shown.out;
  const Ended plain = run_train({"show", "--model", path("small.json"), "--format", "program"});
  EXPECT_EQ(plain.out.find("delete_var("), std::string::npos);
}

TEST_F(WholeRun, EachSeedIsARunOfItsOwnThatRepeatsItself) {
  for (const auto& [name, seed] : {std::pair{"a", "1"}, {"b", "1"}, {"c", "2"}})
    ASSERT_EQ(run_train(small({"--steps", "12", "--save", path(name), "--seed", seed})).code, 0);
  EXPECT_EQ(checkpoint_bytes("a"), checkpoint_bytes("b"));
  EXPECT_NE(checkpoint_bytes("a"), checkpoint_bytes("c"));
}

TEST_F(WholeRun, ResultsGoToStdoutAndQuietLeavesStderrEmpty) {
  const Ended run = run_train(small({"--epochs", "1", "--quiet"}));
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_NE(run.out.find("\neval step 10 epoch 1 loss "), std::string::npos) << run.out;
}

TEST_F(WholeRun, AnEpochThatLeavesSamplesOutSaysSoOnce) {
  const Ended run = run_train(small({"--batch", "48", "--epochs", "2"}));
  const std::string line = "each epoch leaves out 16 samples";
  ASSERT_NE(run.err.find(line), std::string::npos) << run.err;
  EXPECT_EQ(run.err.find(line), run.err.rfind(line));
}

TEST_F(WholeRun, EvaluationCountsEverySampleOnceWhateverTheBatch) {
  ASSERT_EQ(run_train(small({"--epochs", "1", "--save", path("run")})).code, 0);
  std::vector<std::string> lines;
  for (const char* batch : {"1", "40", "16", "64"}) {
    const Ended run = run_train({"eval", "--model", path("small.json"), "--data", "shapes:train=160,test=40",
                                 "--weights", path("run"), "--batch", batch});
    ASSERT_EQ(run.code, 0) << run.err;
    lines.push_back(last_line_with(run.out, " correct "));
  }
  EXPECT_NE(lines[0].find("samples 40"), std::string::npos) << lines[0];
  for (const std::string& line : lines) EXPECT_EQ(line, lines[0]);
}

TEST_F(WholeRun, ExportedWeightsScoreAsTheCheckpointDoes) {
  ASSERT_EQ(run_train(small({"--epochs", "1", "--save", path("run")})).code, 0);
  ASSERT_EQ(run_train({"export", "--model", path("small.json"), "--weights", path("run"), "--output", path("w")}).code,
            0);
  EXPECT_EQ(bytes_in(path("w")), bytes_in(path("run/best/weights.safetensors")));
}

TEST_F(WholeRun, AnExportWithoutWeightsIsWhereTheSeedStarts) {
  for (const auto& [name, seed] : {std::pair{"a", "1"}, {"b", "1"}, {"c", "2"}})
    ASSERT_EQ(run_train({"export", "--model", path("small.json"), "--seed", seed, "--output", path(name)}).code, 0);
  EXPECT_EQ(bytes_in(path("a")), bytes_in(path("b")));
  EXPECT_NE(bytes_in(path("a")), bytes_in(path("c")));
}

TEST_F(WholeRun, ShowPrintsTheTrainingProgramInFormsThatToolsRead) {
  const Ended text = run_train({"show", "--model", path("small.json"), "--format", "program"});
  const lethe::Program program = parse_program(text.out);
  EXPECT_EQ(to_text(program), text.out);
  const Ended json = run_train({"show", "--model", path("small.json"), "--format", "json"});
  EXPECT_EQ(nlohmann::json::parse(json.out)["vars"].size(), program.vars.size());
  const Ended inference = run_train({"show", "--model", path("small.json"), "--format", "program", "--eval"});
  EXPECT_EQ(inference.out.find("backward"), std::string::npos);
  EXPECT_NE(text.out.find("backward"), std::string::npos);
}

TEST_F(WholeRun, DecayAllDecaysBiasAndNormToo) {
  const auto shown = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"show", "--model", path("small.json"), "--format", "program", "--weight-decay", "0.5"});
    return run_train(more).out;
  };
  EXPECT_NE(shown({}).find("weight_decay=0.0"), std::string::npos);
  const std::string all = shown({"--decay-all"});
  EXPECT_EQ(all.find("weight_decay=0.0"), std::string::npos) << all;
  EXPECT_NE(all.find("weight_decay=0.5"), std::string::npos) << all;
}

TEST_F(WholeRun, TheLargestBatchOfARunIsNoLargerThanItsData) {
  const Ended ended = run_train(small({"--batch", "auto", "--memory-budget", "1GiB", "--epochs", "1"}));
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE((ended.out + ended.err).find("batch 160"), std::string::npos) << ended.out << ended.err;
}

TEST_F(WholeRun, EpochsWithoutEndAreNotDueEarly) {
  // 768 steps an epoch, times this, is 256 in 64 bits.
  const char* far = "48038396025285291e";
  const Ended run = run_train({"--model", path("small.json"), "--data", "shapes:train=768,test=4", "--batch", "1",
                               "--threads", "1", "--steps", "257", "--eval-every", far, "--quiet"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out.find("eval step 256 "), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("eval step 257 "), std::string::npos) << run.out;
}

TEST_F(WholeRun, DoublePrecisionTrainsToo) {
  const Ended run = run_train(small({"--steps", "5", "--dtype", "f64"}));
  EXPECT_EQ(run.code, 0) << run.err;
}

}  // namespace
}  // namespace lethe::testing
