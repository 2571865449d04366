#include "train/report/run_report.h"

#include <cstdio>

#include "framework/error.h"
#include "train/report/score_report.h"

namespace lethe {

void RunReport::record(const Record& measured) {
  for (const auto& file : files_) file->append(measured);
}

void RunReport::evaluated(std::int64_t step, std::int64_t epoch, const Scores& scores) {
  progress_.clear();
  std::puts(message("eval step ", step, " epoch ", epoch, " ", text_of(scores)).c_str());
  std::fflush(stdout);
}

}  // namespace lethe
