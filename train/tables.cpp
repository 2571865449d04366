// `train tables`: optnet's published tables, reproduced.
#include "train/report/tables.h"

#include "train/commands.h"
#include "train/report/progress.h"
#include "train/report/streams.h"
#include "train/session/device.h"

namespace lethe {

int tables(const Options& options) {
  std::vector<TableEntry> entries = reproduced_tables(options.table, options.net);
  const std::unique_ptr<Device> device = open_device(options.device);
  plan_at_level_2(entries, device->info());
  Progress progress(stderr, options.quiet);
  if (options.measure) measure_tables(entries, *device, [&](const std::string& line) { progress.note(line); });
  write_result("", tables_as(options.format, entries));
  return 0;
}

}  // namespace lethe
