// `train graph`: what looks the same shares memory, and what shares memory looks the same.
#include "train/report/graph.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <regex>
#include <set>

#include "kernels/cpu/device.h"
#include "tests/train/run_fixture.h"
#include "train/recipe.h"
#include "train/session/programs.h"

namespace lethe::testing {
namespace {

Planned planned_for(const std::vector<std::string>& args) {
  const Options options = decided(parse_options(args));
  Prepared prepared(open_cpu(1)->info());
  return planned_program(options.program, prepared);
}

/// A value as it is drawn.
struct Cell {
  VarId var;
  int number;
  std::string colour;
};

std::vector<Cell> cells_of(const std::string& dot) {
  static const std::regex pattern("<TD BGCOLOR=\"(#[0-9a-f]{6})\">(\\d+)</TD><TD PORT=\"v(\\d+)\" BGCOLOR=\"\\1\">");
  std::vector<Cell> cells;
  for (std::sregex_iterator at(dot.begin(), dot.end(), pattern), end; at != end; ++at)
    cells.push_back({std::stoi((*at)[3]), std::stoi((*at)[2]), (*at)[1]});
  return cells;
}

void expect_looks_follow_places(const Planned& planned) {
  const std::vector<Cell> cells = cells_of(graph_dot("", {{.title = "", .planned = planned}}));
  ASSERT_GT(cells.size(), 10U);
  for (const Cell& a : cells)
    for (const Cell& b : cells) {
      const bool same_place = planned.plan.vars[a.var] == planned.plan.vars[b.var];
      const std::string pair = planned.program.vars[a.var].name + " and " + planned.program.vars[b.var].name;
      EXPECT_EQ(a.number == b.number, same_place) << pair;
      EXPECT_EQ(a.colour == b.colour, same_place) << pair;
      const bool same_storage = planned.sharing.of[a.var] == planned.sharing.of[b.var];
      EXPECT_TRUE(!same_storage || a.number == b.number) << pair;
    }
}

std::size_t places_in(const Planned& planned) {
  std::set<int> numbers;
  for (const Cell& cell : cells_of(graph_dot("", {{.title = "", .planned = planned}}))) numbers.insert(cell.number);
  return numbers.size();
}

TEST(Graph, EqualNumberAndColourJustForEqualStorage) {
  for (const char* model : {"lenet", "resnet20"})
    for (const char* memopt : {"none", "level=0", "level=1", "level=1,release,inplace", "level=2"}) {
      SCOPED_TRACE(std::string(model) + " " + memopt);
      expect_looks_follow_places(planned_for({"graph", "--model", model, "--memopt", memopt, "--batch", "2"}));
      expect_looks_follow_places(
          planned_for({"graph", "--model", model, "--memopt", memopt, "--batch", "2", "--eval"}));
    }
}

TEST(Graph, SharingLeavesFewerPlaces) {
  const auto places = [](const char* memopt) {
    return places_in(planned_for({"graph", "--model", "resnet20", "--memopt", memopt, "--batch", "2", "--eval"}));
  };
  EXPECT_LT(places("level=1"), places("none") / 3);
  EXPECT_LT(places("level=2"), places("none") / 3);
}

TEST(Graph, DrawsForwardAndBackwardOpsButNoUpdates) {
  const Planned planned = planned_for({"graph", "--model", "lenet"});
  std::set<VarId> expected, drawn;
  for (const Op& op : planned.program.blocks[0].ops)
    if (op.role != Role::Optimize) expected.insert(op.out.begin(), op.out.end());
  for (const Cell& cell : cells_of(graph_dot("", {{.title = "", .planned = planned}})))
    if (planned.program.vars[cell.var].kind != Kind::Input) drawn.insert(cell.var);
  EXPECT_EQ(drawn, expected);
}

TEST(Graph, ColoursAreAllDifferentAndLightEnoughForBlackText) {
  const std::vector<std::string> colours = place_colours(5000);
  EXPECT_EQ(std::set<std::string>(colours.begin(), colours.end()).size(), colours.size());
  for (const std::string& colour : colours) {
    const int rgb = std::stoi(colour.substr(1), nullptr, 16);
    EXPECT_GT(0.2126 * (rgb >> 16) + 0.7152 * (rgb >> 8 & 255) + 0.0722 * (rgb & 255), 110) << colour;
  }
}

class GraphCommand : public RunTest {};

TEST_F(GraphCommand, GraphvizReadsItWhateverTheNames) {
  if (std::system("command -v dot >/dev/null 2>&1") != 0) GTEST_SKIP() << "graphviz is not installed";
  Planned planned = planned_for({"graph", "--model", "lenet", "--eval"});
  planned.program.vars[0].name = "a<b>&\"c\\";
  std::ofstream(path("net.dot")) << graph_dot("\"<&>\\", {{.title = "<", .planned = planned}});
  const std::string command =
      "dot -Tsvg '" + path("net.dot") + "' -o '" + path("net.svg") + "' 2> '" + path("err") + "'";
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(bytes_in(path("err")), "");
  EXPECT_NE(bytes_in(path("net.svg")).find("a&lt;b&gt;&amp;&quot;c\\"), std::string::npos);
}

TEST_F(GraphCommand, ShowsBothSidesAndWhatEqualMeans) {
  const Ended ended = run_train({"graph", "--model", path("small.json"), "--memopt", "level=1"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  for (const char* part : {"small, training, batch 16, f32", "before: none, ", "after: level=1, ", "the same buffer"})
    EXPECT_NE(ended.out.find(part), std::string::npos) << part;
}

TEST_F(GraphCommand, RefusesInOneLineAndLeavesNothing) {
  EXPECT_EQ(run_train({"graph", "--model", "lenett"}).code, 2);
  EXPECT_EQ(run_train({"graph", "--model", "lenet", "--memopt", "level=9"}).code, 2);
  const Ended ended = run_train({"graph", "--model", "lenet", "--out", path("none/net.dot")});
  EXPECT_EQ(ended.code, 4);
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  EXPECT_NE(ended.err.find("none/net.dot"), std::string::npos) << ended.err;
  EXPECT_FALSE(std::filesystem::exists(path("none")));
}

TEST_F(GraphCommand, NeverTakesThePlaceOfWhatIsNoPlainFile) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const Ended ended = run_train({"graph", "--model", "lenet", "--out", path("pipe")});
  EXPECT_EQ(ended.code, 4);
  EXPECT_NE(ended.err.find("it is no plain file"), std::string::npos) << ended.err;
  EXPECT_TRUE(std::filesystem::is_fifo(path("pipe")));
}

}  // namespace
}  // namespace lethe::testing
