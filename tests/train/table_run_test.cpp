// Runs on tables and arrays: what they learn, save, score and predict.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/train/run_fixture.h"

namespace lethe::testing {
namespace {

constexpr int kTableRows = 64, kTestRows = 20;

/// Rows "a,b,kind,price,cheap,round" of which price = 1000 + 300 a - 100 b, and 500 more for kind y.
std::string price_table(int begin, int count) {
  std::ostringstream text;
  text << "a,b,kind,price,cheap,round\n";
  for (int i = begin; i < begin + count; ++i) {
    const double a = (i * 37 % 19) / 9.0 - 1, b = (i * 53 % 23) / 11.0 - 1;
    const double price = 1000 + 300 * a - 100 * b + (i % 3 == 0 ? 500 : 0);
    text << a << ',' << b << ',' << (i % 3 == 0 ? "y" : "x") << ',' << price << ',' << (price < 1100) << ',' << (a > b)
         << '\n';
  }
  return text.str();
}

class TableRun : public RunTest {
 protected:
  void SetUp() override {
    RunTest::SetUp();
    std::ofstream(path("train.csv")) << price_table(0, kTableRows);
    std::ofstream(path("test.csv")) << price_table(kTableRows, kTestRows);
  }
  /// With `more` after the spec's file for tests.
  std::string data(const std::string& more) const {
    return "csv:" + path("train.csv") + ",test=" + path("test.csv") + more;
  }
  Ended trained(const std::string& run, const std::string& set, const std::string& spec,
                std::vector<std::string> more) const {
    more.insert(more.end(), {"--model", "table", "--set", "hidden=16," + set, "--data", spec, "--save", path(run),
                             "--threads", "1", "--batch", "16", "--eval-every", "10e"});
    const Ended ended = run_train(more);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended;
  }
  nlohmann::json scores(const std::string& run) const {
    const Ended ended = run_train({"eval", "--weights", path(run), "--format", "json", "--threads", "1"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    return nlohmann::json::parse(ended.out);
  }
  /// What is predicted for each row for tests.
  std::vector<nlohmann::json> predicted(const std::string& run) const {
    const Ended ended = run_train(
        {"predict", "--weights", path(run), "--format", "json", "--batch", "8", "--threads", "1", path("test.csv")});
    EXPECT_EQ(ended.code, 0) << ended.err;
    std::vector<nlohmann::json> rows;
    std::istringstream lines(ended.out);
    for (std::string line; std::getline(lines, line);) rows.push_back(nlohmann::json::parse(line));
    EXPECT_EQ(std::ssize(rows), kTestRows);
    return rows;
  }
  /// The numbers in a column of the table for tests.
  std::vector<double> column(int number) const {
    std::istringstream lines(bytes_in(path("test.csv")));
    std::vector<double> values;
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      std::istringstream cells(line);
      for (int i = 0; i <= number; ++i) std::getline(cells, line, ',');
      values.push_back(std::stod(line));
    }
    return values;
  }
};

const std::string kPrice = ",target=price,drop=cheap|round,categories=kind";

TEST_F(TableRun, LearnsANumberAndPredictsItInTheUnitsOfTheTable) {
  const Ended ended = trained("price", "inputs=4", data(kPrice), {"--epochs", "40"});
  EXPECT_NE(ended.out.find(" rmse "), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find(" bytes, as predicted"), std::string::npos) << ended.out;
  const nlohmann::json found = scores("price");
  EXPECT_EQ(found.at("samples"), kTestRows);
  EXPECT_GT(found.at("r2").get<double>(), 0.8);
  double squares = 0;
  const std::vector<double> prices = column(3);
  const std::vector<nlohmann::json> rows = predicted("price");
  for (std::size_t i = 0; i < prices.size(); ++i)
    squares += std::pow(rows[i].at("values").at("price").get<double>() - prices[i], 2);
  EXPECT_NEAR(std::sqrt(squares / kTestRows), found.at("rmse").get<double>(), 1e-3);
  EXPECT_TRUE(rows[1].at("file").get<std::string>().ends_with("test.csv:3")) << rows[1];
}

TEST_F(TableRun, LearnsSeveralLabels) {
  trained("labels", "inputs=2,outputs=2,bce=1", data(",target=cheap|round,drop=price|kind"), {"--epochs", "40"});
  const nlohmann::json found = scores("labels");
  ASSERT_EQ(found.at("targets").size(), 2U);
  EXPECT_EQ(found.at("targets")[1].at("target"), "round");
  EXPECT_GT(found.at("targets")[1].at("auc").get<double>(), 0.8);
  const std::vector<double> labels = column(5);
  const std::vector<nlohmann::json> rows = predicted("labels");
  int right = 0;
  for (std::size_t i = 0; i < labels.size(); ++i)
    right += (rows[i].at("values").at("round").get<double>() > 0.5) == (labels[i] == 1);
  EXPECT_EQ(static_cast<double>(right) / kTestRows, found.at("targets")[1].at("accuracy").get<double>());
}

TEST_F(TableRun, IsTheSameUnderEachMemorySettingAndWhenItIsResumed) {
  trained("whole", "inputs=4", data(kPrice), {"--steps", "30"});
  for (const char* memory : {"none", "level=1", "level=3"}) {
    trained(memory, "inputs=4", data(kPrice), {"--steps", "30", "--memopt", memory});
    EXPECT_EQ(checkpoint_bytes(std::string(memory) + "/latest"), checkpoint_bytes("whole/latest")) << memory;
  }
  trained("parts", "inputs=4", data(kPrice), {"--steps", "13", "--schedule", "constant"});
  trained("constant", "inputs=4", data(kPrice), {"--steps", "30", "--schedule", "constant"});
  const Ended ended = run_train({"--resume", path("parts"), "--steps", "30"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(checkpoint_bytes("parts/latest"), checkpoint_bytes("constant/latest"));
}

TEST_F(TableRun, SaysWhatIsNoFigureOfANetworkWithoutLabels) {
  trained("price", "inputs=4", data(kPrice), {"--steps", "4"});
  const auto refused = [&](std::vector<std::string> words) {
    const Ended ended = run_train(words);
    EXPECT_EQ(ended.code, 2) << ended.err;
    return ended.err;
  };
  EXPECT_NE(refused({"eval", "--weights", path("price"), "--by-class"}).find("table: tells no classes apart"),
            std::string::npos);
  EXPECT_NE(refused({"predict", "--weights", path("price"), path("test.csv"), "--skip-bad", "1"}).find("--skip-bad is"),
            std::string::npos);
  EXPECT_NE(refused({"predict", "--weights", path("price"), path("test.csv"), "--data", data(kPrice)}).find("--data: "),
            std::string::npos);
  EXPECT_NE(refused({"--model", "table", "--data", "shapes"}).find("gives images, the network takes numbers by name"),
            std::string::npos);
  const Ended made = run_train({"--model", "table", "--steps", "2", "--threads", "1"});
  EXPECT_EQ(made.code, 0) << made.err;
}

/// An array of bytes, as numpy.save writes it.
void save_array(const std::string& file, const std::string& shape, const std::string& bytes) {
  const std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': " + shape + ", }\n";
  std::ofstream(file, std::ios::binary) << std::string("\x93NUMPY\x01\0", 8) << static_cast<char>(header.size()) << '\0'
                                        << header << bytes;
}

TEST_F(TableRun, OfArraysIsEvaluatedAndPredictsNothing) {
  save_array(path("image.npy"), "(40, 1, 28, 28)", std::string(40 * 28 * 28, '\1'));
  save_array(path("label.npy"), "(40,)", std::string(40, '\3'));
  const std::string arrays = "npy:image=" + path("image.npy") + ",label=" + path("label.npy") + ",val=0.3";
  const Ended ended = run_train({"--model", "lenet", "--data", arrays, "--steps", "2", "--batch", "4", "--threads", "1",
                                 "--save", path("arrays")});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.out.find(" bytes, as predicted"), std::string::npos) << ended.out;
  EXPECT_EQ(scores("arrays").at("samples"), 10) << "that are held out";
  const Ended refused = run_train({"predict", "--weights", path("arrays"), path("image.npy")});
  EXPECT_EQ(refused.code, 4);
  EXPECT_NE(refused.err.find("npy: does not say what the network's numbers mean"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace lethe::testing
