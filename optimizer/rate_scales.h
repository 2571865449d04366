// Parameters with a learning rate of their own, as parts of that of all others.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "framework/builder/network.h"

namespace lethe {

/// Layers of weights, counted from the input.
struct Depths {
  std::int64_t blocks = 0;                      // 0: the network does not say
  std::map<std::string, std::int64_t> of = {};  // by name: 0, the block's from 1 on, or that of the head, blocks + 1
};
/// By Network::depth: patterns without a field mean what stands below the blocks, those with one blocks, which count on
/// from pattern to pattern; anything else is of the head. So has timm its layers of a ResNet.
Depths depths_of(const Network& network);

struct RateSetting {
  /// Names and their rates, with commas between: `head.*=10x` multiplies, `norm.*=3e-4` is a rate that follows the
  /// schedule, too. Of several that mean a parameter the last one counts.
  std::string of = {};
  /// Layer i of `Network::depth` has this to the power of L + 1 - i of the rate (BEiT; Bao et al., 2022); L + 1 is the
  /// head, and 1 leaves all rates as they are. Factors of `of` come on top; its rates are as they stand.
  double layer_decay = 1;
  double lr = 0;  // the rate that `of` replaces by its rates; 0: it is not known
};

/// By a parameter's name what its rate is multiplied by, where that is not 1.
using RateScales = std::map<std::string, double>;
/// Fails for a text that says no rates, for a name that no parameter has (weights_named.h) or none that is trained, and
/// for a layer decay where the network does not say its layers.
RateScales rate_scales(const Network& network, const RateSetting& setting);

/// Why a text is none of RateSetting::of; "" if it is one.
std::string complaint_about_rates(const std::string& text);

}  // namespace lethe
