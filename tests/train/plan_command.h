// `train plan` of the small network, as a process and as a report.
#pragma once
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/train/run_fixture.h"
#include "train/recipe.h"
#include "train/report/plan_report.h"
#include "train/session/device.h"

namespace lethe::testing {

inline PlanReport report_of(const Options& options) {
  return report_plan(options.program, device_info(options.device));
}

class PlanCommand : public RunTest {
 protected:
  Ended plan(std::vector<std::string> more) const {
    more.insert(more.begin(), {"plan", "--model", path("small.json"), "--threads", "1"});
    return run_train(more);
  }
  nlohmann::json json(std::vector<std::string> more) const {
    more.emplace_back("--json");
    const Ended ended = plan(more);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return nlohmann::json::parse(ended.out);
  }
};

}  // namespace lethe::testing
