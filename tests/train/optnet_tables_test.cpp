// The published tables and `train count`, as users see them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "framework/error.h"
#include "kernels/cpu/device.h"
#include "tests/train/train_process.h"
#include "train/optnet/tables.h"

namespace lethe::testing {
namespace {

const std::vector<TableEntry>& entries() {
  static const std::vector<TableEntry> all = [] {
    std::vector<TableEntry> made = reproduced_tables();
    plan_at_level_2(made, open_cpu(0)->info());
    return made;
  }();
  return all;
}

TEST(Tables, AllButTwoMisprintsAreReproducedToThePrintedDigit) {
  const Score s = score(entries());
  EXPECT_EQ(s.all(), 132);
  EXPECT_EQ(s.exact, 127);
  EXPECT_EQ(s.with_workspace, 3);
  EXPECT_EQ(s.misprints, 2);
  EXPECT_EQ(s.differ, 0);
}

TEST(Tables, AgreementIsJudgedAtThePrintedDigit) {
  EXPECT_EQ(agreement(1.5, 1.523, 1.523, false), Agreement::Exact);
  EXPECT_EQ(agreement(1.5, 1.45, 1.44, false), Agreement::WithWorkspace);
  EXPECT_EQ(agreement(9, 9.5, 9.5, false), Agreement::Differs);
  EXPECT_EQ(agreement(5340, 5399.9, 5399.9, true), Agreement::Misprint);
}

TEST(Tables, JsonHasThePublishedFiguresAndOursInBytes) {
  const auto json = nlohmann::json::parse(tables_as("json", entries()));
  ASSERT_EQ(json["tables"].size(), 3u);
  const auto& table = json["tables"][2];
  EXPECT_EQ(table["table"], 3);
  EXPECT_EQ(table["batch"], 64);
  EXPECT_EQ(table["dtype"], "f32");
  EXPECT_EQ(table["mode"], "training");
  const auto& vgg = table["rows"][1];
  EXPECT_EQ(vgg["net"], "vgg-A");
  EXPECT_EQ(vgg["published"]["before"]["grad_inputs"], 2228);
  EXPECT_TRUE(vgg["published"]["before"]["buffers"].is_null()) << "table 3 does not print them";
  EXPECT_EQ(vgg["reproduced"]["after"]["grad_inputs"], 1072562176);
  EXPECT_EQ(vgg["reproduced"]["after"]["total"], 4433018468 + kWorkspaceOfTable3);
  EXPECT_EQ(vgg["reproduced"]["after"]["all_categories"], 4433018468);
}

TEST(Tables, TotalsOfInferenceLeaveOutGradientsAsTheCounterDid) {
  const auto json = nlohmann::json::parse(tables_as("json", entries()));
  const auto& before = json["tables"][1]["rows"][0]["reproduced"]["before"];
  EXPECT_EQ(before["grad_inputs"], 545476608);
  EXPECT_EQ(before["total"], 1446150468 - 545476608);
  EXPECT_EQ(before["all_categories"], 1446150468);
}

TEST(Tables, EveryFormHasEveryFigure) {
  const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  constexpr int kRows = 4 * (4 + 3 + 4);
  EXPECT_EQ(lines(tables_as("csv", entries())), kRows + 1);
  const std::string text = tables_as("text", entries()), markdown = tables_as("md", entries());
  EXPECT_NE(text.find("130 of 132 published figures"), std::string::npos);
  EXPECT_NE(text.find("5340 is a misprint of 5400"), std::string::npos);
  EXPECT_EQ(std::count(markdown.begin(), markdown.end(), '|'), (kRows + 2 * 3) * 11);
}

// One thread plans: each has a workspace of its own, and where a network takes 15 MiB that is felt.
TEST(Tables, Level2IsCertifiedAndBelowWhatOptnetLeft) {
  std::vector<TableEntry> made = reproduced_tables();
  plan_at_level_2(made, DeviceInfo{});
  for (const TableEntry& entry : made) {
    SCOPED_TRACE(message("table ", entry.table->number, ", ", entry.row->net));
    ASSERT_TRUE(entry.lethe);
    EXPECT_TRUE(entry.lethe->certified);
    EXPECT_LT(entry.lethe->total(), figure(entry.count.after, Column::Total, *entry.table));
  }
}

TEST(Tables, MeasuredIsWhatWasPredictedAndSharingChangesNoBit) {
  const Ended ended = run_train({"tables", "--measure", "--table", "1", "--net", "resnet110", "--format", "json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto row = nlohmann::json::parse(ended.out)["tables"][0]["rows"][0];
  for (const char* when : {"before", "after"}) {
    const auto &measured = row["measured"][when], &reproduced = row["reproduced"][when];
    for (const char* share : {"outputs", "grad_inputs", "buffers", "params"})
      EXPECT_EQ(measured[share], reproduced[share]) << when << ' ' << share;
    EXPECT_EQ(measured["total"], measured["distinct"]) << when;
    EXPECT_EQ(measured["kept_apart"], 0) << when;
    EXPECT_EQ(measured["fed"], 3 * 32 * 32 * 8) << when;
  }
  EXPECT_TRUE(row["measured"]["results_equal"]);
}

TEST(Tables, TheCommandPrintsThem) {
  const Ended ended = run_train({"tables", "--format", "csv"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, tables_as("csv", entries()));
  EXPECT_EQ(run_train({"tables", "--format", "xml"}).code, 2);
}

TEST(Count, PrintsCategoriesBeforeAndAfter) {
  const Ended ended = run_train({"count", "--model", "optnet/alexnet", "--batch", "1", "--dtype", "f64"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  std::istringstream words(ended.out.substr(ended.out.find("\nbuffers")));
  std::string name;
  std::int64_t before = 0, after = 0;
  words >> name >> before >> after;
  EXPECT_EQ(name, "buffers");
  EXPECT_EQ(before, 45005744);
  EXPECT_EQ(after, 9064536);
}

TEST(Count, JsonSaysWhatIsPrivateAndWhatIsCountedTwice) {
  const Ended ended = run_train({"count", "--model", "optnet/googlenet", "--batch", "64", "--memopt", "optnet=training",
                                 "--set", "dropout=false", "--format", "json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto json = nlohmann::json::parse(ended.out);
  EXPECT_EQ(json["backend"], "cudnn");
  EXPECT_EQ(json["memopt"], "optnet=training,inplace,reuse_buffers,remove_grad_params");
  EXPECT_EQ(json["before"]["gradInputs"], 3508269056);
  EXPECT_EQ(json["after"]["total"], 5078773156);
  EXPECT_EQ(json["counted_twice"], 330760192) << "315.4 MiB";
}

TEST(Count, WorksForAnyNetworkAndSaysWhatItCannotRead) {
  EXPECT_EQ(run_train({"count", "--model", "lenet", "--backend", "nn"}).code, 0);
  const Ended wrong = run_train({"count", "--model", "lenet", "--memopt", "level=1"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("count knows optnet=inference and optnet=training"), std::string::npos) << wrong.err;
}

}  // namespace
}  // namespace lethe::testing
