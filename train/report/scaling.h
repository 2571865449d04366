// What `train plan --ranks A..B` predicts: memory and time of a step against the number of ranks, none of which runs.
#pragma once
#include <string>
#include <vector>

#include "train/search/simulated_step.h"
#include "train/session/programs.h"

namespace lethe {

/// How so many ranks would do. All bytes and seconds are of one of them.
struct ScalingRow {
  std::int64_t ranks = 1, batch = 1;  // the batch of all of them
  std::int64_t bytes = 0, sent = 0;   // taken; sent in a step
  SimulatedStep step = {};
  double samples_a_second() const { return static_cast<double>(batch) / step.total(); }
};

struct Scaling {
  std::string title = {};  // "resnet50, training, batch 32 on 1 ranks, f32"
  Link link = {};
  Exchange exchange = Exchange::Pieces;
  bool measured = false;              // seconds of kernels were, else by rule of thumb
  std::vector<ScalingRow> rows = {};  // by ranks, the first as the setting has it, then twice as many each
  /// The scaling efficiency: samples a second and rank, as a share of those of the first row.
  double efficiency(const ScalingRow& row) const;
};

/// Up to `most` ranks. Each has the share of the batch that it has in `setting`. Fails where that cannot be shared out.
Scaling scaling_of(const ProgramSetting& setting, const DeviceInfo& device, std::int64_t most, const Link& link,
                   Exchange exchange);

std::string scaling_text(const Scaling& scaling);
std::string scaling_json(const Scaling& scaling);
/// A picture that stands alone.
std::string scaling_svg(const Scaling& scaling);

}  // namespace lethe
