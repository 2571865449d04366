// `train graph`: a picture of what shares memory.
#include "train/report/graph.h"

#include "framework/error.h"
#include "train/commands.h"
#include "train/device.h"
#include "train/programs.h"
#include "train/recipe.h"
#include "train/report/memory_report.h"
#include "train/report/streams.h"

namespace lethe {

int write_graph(const Options& given) {
  Options options = decided(given);
  Prepared prepared(device_info(options));
  const auto side_of = [&](const std::string& when, const std::string& memopt) {
    options.memopt = memopt;
    GraphSide side{.title = {}, .planned = planned_program(options, prepared)};
    side.title = message(when, ": ", memopt, ", ", mebibytes(side.planned.plan.bytes.total()));
    return side;
  };
  const std::string asked = options.memopt;
  write_result(options.output, graph_dot(title_of(options), {side_of("before", "none"), side_of("after", asked)}));
  return 0;
}

}  // namespace lethe
