// `train graph`: a picture of what shares memory.
#include "train/report/graph.h"

#include "framework/error.h"
#include "train/option_groups.h"
#include "train/recipe.h"
#include "train/report/memory_report.h"
#include "train/report/streams.h"
#include "train/session/device.h"
#include "train/session/programs.h"

namespace lethe {
namespace {

int write_graph(const Options& given) {
  const Options options = decided(given);
  ProgramSetting program = options.program;
  Prepared prepared(device_info(options.device));
  const auto side_of = [&](const std::string& when, const std::string& memopt) {
    program.memory = memory_setting(memopt, program.memory);
    GraphSide side{.title = {}, .planned = planned_program(program, prepared)};
    side.title = message(when, ": ", memopt, ", ", mebibytes(side.planned.plan.bytes.total()));
    return side;
  };
  const std::string asked = program.memory.text;
  write_result(options.output, graph_dot(title_of(program), {side_of("before", "none"), side_of("after", asked)}));
  return 0;
}

Run declare_graph(OptionSet& set, Options& o) {
  add_network(set, o);
  add_pictured(set, o);
  add_memopt(set, o, "level=2");
  set.in("Output");
  set.add("--out", o.output, "FILE", "Writes the picture there (default: standard output)");
  return write_graph;
}

const RegisterCommand graph_command{
    {.word = "graph",
     .help = "Draws a network for graphviz: which values share memory, before and after.",
     .examples = {{"train graph --model lenet --out lenet.dot", "then: dot -Tsvg lenet.dot -o lenet.svg"}},
     .declare = declare_graph}};

}  // namespace
}  // namespace lethe
