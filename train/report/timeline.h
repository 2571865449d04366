// Which values are in memory while each op runs, and where, as one page for a browser.
#pragma once
#include <string>
#include <vector>

#include "memopt/memory_map.h"
#include "train/session/programs.h"

namespace lethe {

/// A program under one memory setting.
struct TimelineSetting {
  std::string memopt;
  Planned planned;
  std::vector<Resident> values;
  Peak peak;
};

struct Timeline {
  std::string title;                      // "lenet, training, batch 64, f32"
  std::vector<TimelineSetting> settings;  // none, level=1, level=2
};

/// Needs no data and takes no memory of a device.
Timeline timeline_of(const ProgramSetting& program, const DeviceInfo& device);

/// {"categories":[name], "vars":[[name,layer,type]],
///  "settings":[{"memopt","note","bytes","span","peak",
///               "ops":[[type,first output,role]],
///               "values":[[var,category,bytes,born,until,dies,offset]]}]}
/// Ops are counted from 0 and roles are forward, backward, optimize. Bytes are all that is held, span those of the map:
/// buffers stand in it one after the other. A value is needed for ops from born to dies - 1 and counted up to
/// until - 1; var -1 is the workspace of the op that it is born at, offset -1 memory that is not on the map. Plain
/// ASCII without '<', whatever the names are.
std::string timeline_json(const Timeline& timeline);

/// Self-contained: style, script and data are in it.
std::string timeline_page(const Timeline& timeline);

}  // namespace lethe
