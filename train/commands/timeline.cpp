// `train timeline`: the course of a program's memory.
#include "train/report/timeline.h"

#include "train/option_groups.h"
#include "train/recipe.h"
#include "train/report/streams.h"
#include "train/session/device.h"

namespace lethe {
namespace {

int write_timeline(const Options& given) {
  const Options options = decided(given);
  const Timeline timeline = timeline_of(options.program, device_info(options.device));
  write_result(options.output, timeline_page(timeline));
  return 0;
}

Run declare_timeline(OptionSet& set, Options& o) {
  add_network(set, o);
  add_pictured(set, o);
  set.in("Output");
  set.add("--out", o.output, "FILE", "Writes the page there, such as timeline.html")->required();
  return write_timeline;
}

const RegisterCommand timeline_command{
    {.word = "timeline",
     .help = "Draws what is in memory while each op runs, as a page for a browser.",
     .examples = {{"train timeline --model resnet110 --out timeline.html", "then open timeline.html"}},
     .declare = declare_timeline}};

}  // namespace
}  // namespace lethe
