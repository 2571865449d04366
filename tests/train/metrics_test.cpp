#include "train/report/metrics.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "framework/error.h"
#include "tests/train/data_samples.h"
#include "tests/train/file_limit.h"

namespace lethe::testing {
namespace {

class Metrics : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove(path_); }
  void TearDown() override {
    for (const char* ending : {"", ".bad"}) std::filesystem::remove(path_ + ending);
  }
  std::string text() const {
    std::ostringstream all;
    all << std::ifstream(path_).rdbuf();
    return all.str();
  }
  void write(MetricsFile::Form form, std::optional<std::int64_t> resumed_at, const std::vector<std::int64_t>& steps) {
    MetricsFile file(path_, form, resumed_at);
    for (const std::int64_t step : steps) file.append({.step = step, .epoch = 1, .loss = 0.5});
  }
  /// The message when a run that goes on after step 100 opens the file.
  std::string refusal_to_resume(MetricsFile::Form form) const {
    return error_from([&] { MetricsFile(path_, form, 100); });
  }
  /// The one line that is told when a run that goes on after step 100 opens the file.
  std::string note_of_resume(MetricsFile::Form form) const {
    std::string note;
    MetricsFile(path_, form, 100, [&note](const std::string& line) { note += line; });
    return note;
  }
  std::string real_path() const { return std::filesystem::canonical(path_).string(); }
  /// The content of the file beside, which is then gone.
  std::string set_aside() const {
    std::ostringstream all;
    all << std::ifstream(path_ + ".bad").rdbuf();
    std::filesystem::remove(path_ + ".bad");
    return all.str();
  }
  const std::string path_ = ::testing::TempDir() + message("lethe_metrics_", getpid(), "_") +
                            ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(Metrics, CsvHasAHeaderAndARowForEachRecord) {
  MetricsFile file(path_, MetricsFile::Form::Csv, std::nullopt);
  file.append(
      {.step = 20, .epoch = 2, .split = "eval", .loss = 0.25, .accuracy = 0.9, .lr = 0.1, .ms = 54, .mem_peak = 1024});
  file.append({.step = 21, .epoch = 2, .loss = 1e-7, .lr = 0.1, .ms = 54, .mem_peak = 1024, .recorded = false});
  EXPECT_EQ(text(),
            "step,epoch,split,loss,acc,lr,ms,mem_peak,recorded\n20,2,eval,0.25,0.9,0.1,54,1024,\n"
            "21,2,train,1e-07,,0.1,54,1024,0\n");
}

TEST_F(Metrics, LossesAndRatesReadBackToTheSameBits) {
  for (const double x : {1.0 / 3, static_cast<double>(0.1F), std::nextafter(2.5, 3.0), 1e-300}) {
    const nlohmann::json json = nlohmann::json::parse(json_line({.loss = x, .lr = x / 3}));
    EXPECT_EQ(json["loss"], x);
    EXPECT_EQ(json["lr"], x / 3);
    std::string row = csv_row({.step = 1, .loss = x, .lr = x / 3});
    row.erase(0, std::string("1,0,train,").size());
    EXPECT_EQ(std::stod(row), x) << row;
    EXPECT_EQ(std::stod(row.substr(row.find(",,") + 2)), x / 3) << row;
  }
}

TEST_F(Metrics, ThreeResumesLeaveOneHeaderAndEachStepOnce) {
  write(MetricsFile::Form::Csv, std::nullopt, {10, 20, 30});
  write(MetricsFile::Form::Csv, 20, {30, 40});
  write(MetricsFile::Form::Csv, 40, {50});
  write(MetricsFile::Form::Csv, 10, {20});
  EXPECT_EQ(text(), std::string(kCsvHeader) + "\n10,1,train,0.5,,0,0,0,\n20,1,train,0.5,,0,0,0,\n");
}

TEST_F(Metrics, RowsOfAFileWithoutTheLastColumnAreCompleted) {
  std::ofstream(path_) << "step,epoch,split,loss,acc,lr,ms,mem_peak\n10,1,train,0.5,,0,0,0\n";
  EXPECT_EQ(note_of_resume(MetricsFile::Form::Csv), "");
  EXPECT_EQ(text(), std::string(kCsvHeader) + "\n10,1,train,0.5,,0,0,0,\n");
}

TEST_F(Metrics, ALineThatAKillCutShortIsDropped) {
  write(MetricsFile::Form::Csv, std::nullopt, {10});
  std::ofstream(path_, std::ios::app) << "20,1,tra";
  write(MetricsFile::Form::Csv, 20, {});
  EXPECT_EQ(text(), std::string(kCsvHeader) + "\n10,1,train,0.5,,0,0,0,\n");
}

TEST_F(Metrics, ARowThatOnlyLacksItsEndWasCutShortToo) {
  write(MetricsFile::Form::Csv, std::nullopt, {10});
  std::ofstream(path_, std::ios::app) << "20,1,train,0.5,,0,0,102";
  write(MetricsFile::Form::Csv, 20, {});
  EXPECT_EQ(text(), std::string(kCsvHeader) + "\n10,1,train,0.5,,0,0,0,\n");
}

TEST_F(Metrics, AResumeThatFailsLosesNoRecord) {
  write(MetricsFile::Form::Csv, std::nullopt, {10, 20, 30});
  const std::string before = text();
  const FileLimit full(static_cast<rlim_t>(before.size() / 2));
  EXPECT_EQ(refusal_to_resume(MetricsFile::Form::Csv),
            message("cannot write '", std::filesystem::canonical(path_).string(), "': File too large"));
  EXPECT_EQ(text(), before);
}

TEST_F(Metrics, LinesThatAreNoRecordsAreSetAside) {
  const std::string good = json_line({.step = 10}) + "\n";
  for (const char* bad : {R"({"step":"ten"})", R"({"step":null})", R"({"step":1.5})", R"({"step":-1})", R"({"a":1})",
                          R"({"step":99999999999999999999})", "[10]", "{"}) {
    std::ofstream(path_) << good << good << bad << "\n" << good;
    EXPECT_EQ(note_of_resume(MetricsFile::Form::Json),
              message(real_path(), ": line 3 is no record of a step, and moved to ", real_path(), ".bad"));
    EXPECT_EQ(text(), good + good + good);
    EXPECT_EQ(set_aside(), std::string(bad) + "\n");
  }
  for (const char* bad : {"x10,1,train,0.5,,0,0,0", "10.5,1,train,0.5,,0,0,0", "10,1,train", ",,,,,,,"}) {
    std::ofstream(path_) << kCsvHeader << "\n" << bad << "\n" << bad << "\n";
    EXPECT_EQ(note_of_resume(MetricsFile::Form::Csv),
              message(real_path(), ": line 2 and 1 more are no record of a step, and moved to ", real_path(), ".bad"));
    EXPECT_EQ(text(), std::string(kCsvHeader) + "\n");
    EXPECT_EQ(set_aside(), std::string(bad) + "\n" + bad + "\n");
  }
}

TEST_F(Metrics, AByteOrderMarkIsPassedOver) {
  std::ofstream(path_) << "\xef\xbb\xbf" << kCsvHeader << "\n10,1,train,0.5,,0,0,0,\n";
  EXPECT_EQ(note_of_resume(MetricsFile::Form::Csv), "");
  EXPECT_EQ(text(), std::string(kCsvHeader) + "\n10,1,train,0.5,,0,0,0,\n");
}

TEST_F(Metrics, AStepThatIsNestedDeepIsNoStep) {
  std::ofstream(path_) << R"({"step":)" << std::string(200000, '[') << std::string(200000, ']') << "}\n";
  EXPECT_NE(note_of_resume(MetricsFile::Form::Json).find(": line 1 is no record"), std::string::npos);
}

TEST_F(Metrics, ALinkStaysALink) {
  const std::string target = path_ + "_target";
  std::filesystem::create_symlink(target, path_);
  write(MetricsFile::Form::Csv, std::nullopt, {10, 20});
  write(MetricsFile::Form::Csv, 10, {});
  EXPECT_TRUE(std::filesystem::is_symlink(path_));
  EXPECT_EQ(text(), std::string(kCsvHeader) + "\n10,1,train,0.5,,0,0,0,\n");
  std::filesystem::remove(target);
}

TEST_F(Metrics, JsonLinesReadBack) {
  write(MetricsFile::Form::Json, std::nullopt, {10, 20});
  write(MetricsFile::Form::Json, 10, {20});
  std::ifstream in(path_);
  std::vector<nlohmann::json> records;
  for (std::string line; std::getline(in, line);) records.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[1]["step"], 20);
  EXPECT_EQ(records[1]["split"], "train");
  EXPECT_TRUE(records[1]["acc"].is_null());
}

TEST_F(Metrics, ALossThatIsNoNumberIsNullInJson) {
  EXPECT_TRUE(nlohmann::json::parse(json_line({.loss = std::nan("")}))["loss"].is_null());
}

TEST_F(Metrics, AnUnwritableFileIsSaidInOneLine) {
  EXPECT_THROW(MetricsFile("/nowhere/metrics.csv", MetricsFile::Form::Csv, std::nullopt), Error);
}

}  // namespace
}  // namespace lethe::testing
