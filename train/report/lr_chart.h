// The picture of a learning-rate sweep, as SVG.
#pragma once
#include <string>

#include "train/search/lr_sweep.h"

namespace lethe {

/// "0.0231", "1e-07": three digits.
std::string rate_text(double lr);

/// Axes, the losses, their smoothed course with a text for each point, and a line at the suggestion. The page that it
/// stands in has the classes `axis`, `tick`, `raw`, `smoothed`, `point` and `suggestion`.
std::string lr_chart(const LrSweep& sweep);

}  // namespace lethe
