#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/train/data_samples.h"
#include "tests/train/run_fixture.h"
#include "train/session/measured_file.h"

namespace lethe::testing {
namespace {

class Autotune : public RunTest {
 protected:
  Ended train(const std::string& run, std::vector<std::string> more) const {
    more.insert(more.end(), {"--save", path(run), "--autotune", path("choices.json"), "--quiet"});
    const Ended ended = run_train(small(more));
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended;
  }
  nlohmann::json file() const { return nlohmann::json::parse(bytes_in(path("choices.json"))); }
};

TEST_F(Autotune, ChoicesAreKeptAndSettingsChangeNoBit) {
  EXPECT_EQ(train("plain", {"--memopt", "none"}).err, "");
  const nlohmann::json first = file();
  EXPECT_GE(first.at("choices").size(), 2U);
  train("arena", {"--memopt", "level=2"});
  EXPECT_TRUE(checkpoint_bytes("arena") == checkpoint_bytes("plain"));
  EXPECT_EQ(file(), first);
}

TEST_F(Autotune, AResumedRunTakesTheChoicesOfItsBeginning) {
  train("whole", {"--schedule", "constant"});
  train("resumed", {"--schedule", "constant", "--epochs", "1"});
  const std::vector<std::string> resume = {"--resume", path("resumed"), "--epochs", "3"};
  std::filesystem::rename(path("choices.json"), path("away.json"));
  const Ended refused = run_train(resume);
  EXPECT_EQ(refused.code, 2);
  EXPECT_PRED2(says, refused.err, "by which the run began, is not there");
  std::filesystem::rename(path("away.json"), path("choices.json"));
  ASSERT_EQ(run_train(resume).code, 0);
  EXPECT_TRUE(checkpoint_bytes("resumed") == checkpoint_bytes("whole"));
}

TEST_F(Autotune, AFileThatIsOfNoUseIsIgnoredInOneLineAndWrittenAnew) {
  train("first", {"--steps", "1"});
  const nlohmann::json good = file();
  nlohmann::json elsewhere = good, odd = good;
  elsewhere["processor"] = "another";
  odd["choices"].begin().value() = 7;
  const std::pair<std::string, const char*> cases[] = {{"", "choices.json:1:"},
                                                       {R"({"autotune": 1, )", "choices.json:1:"},
                                                       {elsewhere.dump(), "it was measured with processor"},
                                                       {odd.dump(), "7 is no name"}};
  int again = 0;
  for (const auto& [text, complaint] : cases) {
    std::ofstream(path("choices.json")) << text;
    const std::string err = train("again" + std::to_string(again++), {"--steps", "1"}).err;
    EXPECT_PRED2(says, err, complaint);
    EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
    EXPECT_EQ(file().at("processor"), good.at("processor"));
    EXPECT_EQ(file().at("choices").size(), good.at("choices").size());
  }
}

TEST_F(Autotune, WhatAPlanSuggestsInsteadIsNotTried) {
  for (const char* const budget : {"1GiB", "100KiB"}) {
    const Ended plan = run_train({"plan", "--model", path("small.json"), "--memopt", "level=2", "--memory-budget",
                                  budget, "--autotune", path("choices.json")});
    EXPECT_PRED2(says, plan.out + plan.err, "--batch 8");
    const nlohmann::json measured = file();
    for (const auto& [what, way] : measured.at("choices").items())
      EXPECT_TRUE(says(what, ", f32, ") && says(what, "[16,") && !says(what, "no Winograd")) << what;
  }
}

TEST_F(Autotune, AFileOfAnotherKindIsLeftAlone) {
  const std::string network = bytes_in(path("small.json"));
  const Ended ended = run_train(small({"--autotune", path("small.json")}));
  EXPECT_EQ(ended.code, 2);
  EXPECT_PRED2(says, ended.err, "was not written by it");
  EXPECT_EQ(bytes_in(path("small.json")), network);
}

TEST_F(Autotune, IsForADeviceThatIsThereAndAPlaceThatCanBeWritten) {
  const Ended described =
      run_train({"plan", "--model", path("small.json"), "--autotune", path("c.json"), "--device", "h200"});
  EXPECT_EQ(described.code, 2);
  EXPECT_PRED2(says, described.err, "--device h200 is a description");
  const Ended steady = run_train(small({"--autotune", path("c.json"), "--device", "cuda", "--deterministic"}));
  EXPECT_EQ(steady.code, 2);
  EXPECT_PRED2(says, steady.err, "--autotune does not go with --deterministic on a GPU");
  EXPECT_EQ(run_train({"tables", "--autotune", path("c.json")}).code, 2) << "it would be without effect";
  const Ended nowhere = run_train(small({"--autotune", path("small.json/c.json")}));
  EXPECT_EQ(nowhere.code, 2) << nowhere.err;
  const Ended largest = run_train(small({"--autotune", path("c.json"), "--batch", "auto", "--memory-budget", "1GiB"}));
  EXPECT_PRED2(says, largest.err, "--autotune does not go with a batch of auto");
  EXPECT_FALSE(std::filesystem::exists(path("c.json")));
}

}  // namespace
}  // namespace lethe::testing
