// `train tables`: optnet's published tables, reproduced.
#include "train/option_groups.h"
#include "train/optnet/tables.h"
#include "train/report/progress.h"
#include "train/report/streams.h"
#include "train/session/device.h"

namespace lethe {
namespace {

struct TablesAsked {
  int table = 0;         // 0 is all
  std::string net = {};  // "" is all
  bool measure = false;
};

int tables(const TablesAsked& asked, const Options& options) {
  std::vector<TableEntry> entries = reproduced_tables(asked.table, asked.net);
  const std::unique_ptr<Device> device = open_device(options.device);
  plan_at_level_2(entries, device->info());
  Progress progress(stderr, options.quiet);
  if (asked.measure) measure_tables(entries, *device, [&](const std::string& line) { progress.note(line); });
  write_result("", tables_as(options.format, entries));
  return 0;
}

Run declare_tables(OptionSet& set, Options& o) {
  const auto own = std::make_shared<TablesAsked>();
  set.in("Tables");
  set.add("--table", own->table, "N", "Only table 1, 2 or 3")->check(one_of({"1", "2", "3"}));
  set.add("--net", own->net, "NAME", "Only alexnet, vgg-A, googlenet or resnet110")
      ->check(one_of({"alexnet", "vgg-A", "googlenet", "resnet110"}));
  set.add_flag("--measure", own->measure,
               "Runs every network, before and after, and prints what the device handed out");
  add_machine(set, o, false);
  set.in("Output");
  set.add_flag("--quiet", o.quiet, "No word on which network is being run");
  add_format(set, o, {"text", "md", "csv", "json"});
  return [own](const Options& options) { return tables(*own, options); };
}

const RegisterCommand tables_command{
    {.word = "tables",
     .help = "Prints optnet's published memory tables beside the same figures computed here.",
     .examples = {{"train tables --table 1 --measure", "one of the three, with what was measured"}},
     .facts = {.runs = true},
     .declare = declare_tables}};

}  // namespace
}  // namespace lethe
