// `train bench --profile`: where the time of a step goes.
#include "framework/error.h"
#include "train/commands.h"
#include "train/recipe.h"
#include "train/report/bench_report.h"
#include "train/report/profile_report.h"
#include "train/report/streams.h"
#include "train/settings_of_options.h"

namespace lethe {

int profile(const Options& given) {
  Options options = decided_for_timing(given);
  options.device.eager = options.device.name != "cpu";  // a GPU runs ops one by one, too
  SessionSetting setting{program_setting(options), data_setting(options), options.device};
  setting.program.evaluated = false;
  Session session(std::move(setting));
  RunSetting run = run_setting(options);
  run.steps = options.steps;
  const StepProfile found = profile_steps(session, run, kWarmUpSteps);
  write_result("", profile_as(options.format, title_of(program_setting(options)), found));
  return 0;
}

}  // namespace lethe
