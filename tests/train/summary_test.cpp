#include "train/report/summary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "framework/builder/builder.h"
#include "framework/builder/settings.h"
#include "tests/support/expect_error.h"
#include "train/report/graph.h"

namespace lethe::testing {
namespace {

Network small(std::int64_t batch) {
  Builder net({.batch = batch});
  const VarId image = net.input("image", {8, 8, 3});
  VarId x = net.layer("conv", image, {{"out", 4}, {"k", 3}}, "conv1");
  x = net.layer("relu", x, {}, "relu1");
  return net.finish({net.layer("fc", x, {{"out", 10}}, "logits")});
}

TEST(Summary, RowsNameLayersInTheOrderOfNetworkFiles) {
  const std::vector<LayerRow> rows = layer_rows(small(1));
  EXPECT_EQ(rows.front().path, "conv1");
  EXPECT_EQ(rows.front().type, "conv");
  EXPECT_EQ(rows.front().output, "[4,8,8]");
  EXPECT_EQ(rows.back().output, "[10]");
}

TEST(Summary, ParametersAndMultiplyAddsAreThoseOfTheFormulas) {
  const std::vector<LayerRow> rows = layer_rows(small(2));
  EXPECT_EQ(rows.front().parameters, 4 * 3 * 3 * 3 + 4);
  EXPECT_EQ(rows.front().mult_adds, 2 * 8 * 8 * 4 * 3 * 3 * 3);
  EXPECT_EQ(rows.back().parameters, 256 * 10 + 10);
  EXPECT_EQ(rows.back().mult_adds, 2 * 256 * 10);
}

TEST(Summary, LayersOnTokensAndTransposedConvolutionsCountTheirMultiplyAdds) {
  Builder net({.batch = 2});
  const VarId up = net.layer("conv_transpose", net.input("image", {4, 5, 6}),
                             {{"out", 8}, {"k", 2}, {"stride", 2}, {"groups", 2}}, "up");
  const VarId tokens = net.layer("fc", up, {{"out", 3}, {"flatten", 0}}, "each");
  const std::vector<LayerRow> rows = layer_rows(net.finish({tokens}));
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].mult_adds, 2 * 4 * 5 * 6 * (2 * 2 * 8 / 2));
  EXPECT_EQ(rows[0].output, "[8,8,10]");
  EXPECT_EQ(rows[2].path, "each");
  EXPECT_EQ(rows[2].mult_adds, 2 * 8 * 10 * 8 * 3);
  EXPECT_EQ(rows[3].output, "[3,8,10]");
}

TEST(Summary, AVarAndAllItsGradientsBelongToTheLayer) {
  EXPECT_EQ(layer_of("stage1/0/conv1.y"), "stage1/0/conv1");
  EXPECT_EQ(layer_of("stage1/0/conv1.y@GRAD"), "stage1/0/conv1");
  EXPECT_EQ(layer_of("stage1/0/conv1.y@GRAD.2"), "stage1/0/conv1");
  EXPECT_EQ(layer_of("image"), "image");
}

TEST(Summary, TheTableEndsInTotals) {
  const std::string table = layer_table(small(1));
  EXPECT_NE(table.find("parameters    2,682\n"), std::string::npos) << table;
  EXPECT_NE(table.find("mult-adds     9,472\n"), std::string::npos) << table;
  EXPECT_NE(table.find("images as [channels,height,width]"), std::string::npos) << table;
}

TEST(Summary, APictureHasANodeForEachOpAndEdgesFromWritersToReaders) {
  const Program program{.vars = {{.name = "x", .shape = {2}, .kind = Kind::Input},
                                 {.name = "y \"1\"", .shape = {2}},
                                 {.name = "z", .shape = {2}}},
                        .blocks = {{.ops = {{.type = "relu", .in = {0}, .out = {1}},
                                            {.type = "relu", .in = {1}, .out = {2}, .role = Role::Backward}}}}};
  const std::string dot = to_dot(program);
  EXPECT_EQ(dot.find("digraph program {"), 0U);
  EXPECT_NE(dot.find("v0 -> op0 [label=\"[2]\"]"), std::string::npos) << dot;
  EXPECT_NE(dot.find("op0 -> op1 "), std::string::npos) << dot;
  EXPECT_EQ(dot.find("op1 -> op0 "), std::string::npos) << dot;
}

TEST(Summary, ShowsWhatStandsInALoopAndCountsItsTrips) {
  Builder net({.batch = 2});
  const VarId x = net.input("x", {3});
  net.loop(
      {x}, 5, nullptr,
      [&](const Vars& h) {
        return Vars{net.layer("fc", h[0], {{"out", 3}}, "cell")};
      },
      "loop");
  const std::vector<LayerRow> rows = layer_rows(net.finish());
  const auto named = [&](const std::string& path) {
    return *std::find_if(rows.begin(), rows.end(), [&](const LayerRow& row) { return row.path == path; });
  };
  EXPECT_EQ(named("cell").parameters, 12);
  EXPECT_EQ(named("cell").mult_adds, 5 * 2 * 3 * 3);
  EXPECT_EQ(named("loop").type, "while");
  EXPECT_EQ(named("loop").output, "[3]");
  EXPECT_EQ(named("loop").parameters, 0) << "they are the cell's";
}

TEST(LayerList, SaysOfEachKeyWhatItTakes) {
  const std::string conv = layer_list("Conv");
  EXPECT_EQ(conv.rfind("conv (conv2d, Conv): ", 0), 0U) << conv;
  for (const char* part : {"required", "1 to 2147483647", "kernel height and width", "same"})
    EXPECT_NE(conv.find(part), std::string::npos) << part << " in\n" << conv;
  EXPECT_NE(layer_list("dropout").find("at least 0 and below 1"), std::string::npos);
}

TEST(LayerList, HasEveryLayer) {
  const std::string all = layer_list("");
  for (const Layer* layer : all_layers())
    EXPECT_NE(("\n" + all).find("\n" + layer_list(layer->name)), std::string::npos) << layer->name;
  EXPECT_TRUE(fails_with("unknown layer 'convv'; did you mean 'conv'?", [] { layer_list("convv"); }));
}

}  // namespace
}  // namespace lethe::testing
