// What `train lr-find` says of a sweep, in words and as a picture.
#pragma once
#include <string>

#include "train/search/lr_sweep.h"

namespace lethe {

/// "0.0231", "1e-07": three digits.
std::string rate_text(double lr);

struct LrReport {
  std::string network = {}, dtype = {}, optimizer = {};
  std::int64_t batch = 0, steps = 0;
  double min_lr = 0, max_lr = 0;
  LrSweep sweep = {};
  std::int64_t predicted = 0, taken = 0;  // bytes
};

/// A row for each step, why it ended, the suggestion.
std::string lr_text(const LrReport& report);
/// {"model","batch","dtype","optimizer","steps","diverged","suggestion","points":[{"lr","loss","smoothed"}],
///  "memory":{"predicted","taken"}}; the suggestion is null if there is none.
std::string lr_json(const LrReport& report);
/// A page for a browser with both courses over the logarithm of the rate; needs nothing else, and no script.
std::string lr_page(const LrReport& report);

}  // namespace lethe
