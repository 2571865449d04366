// `train timeline`: the course of a program's memory.
#include "train/report/timeline.h"

#include "train/commands.h"
#include "train/recipe.h"
#include "train/report/streams.h"
#include "train/session/device.h"
#include "train/settings_of_options.h"

namespace lethe {

int write_timeline(const Options& given) {
  const Options options = decided(given);
  const Timeline timeline = timeline_of(program_setting(options), device_info(options.device));
  write_result(options.output, timeline_page(timeline));
  return 0;
}

}  // namespace lethe
