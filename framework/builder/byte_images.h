// Images that are fed as bytes, a quarter of f32's: the program makes the network's numbers of them.
#pragma once
#include "framework/builder/network.h"

namespace lethe {

/// What images are normalised by, channel by channel, when their bytes are scaled to [0, 1]: the mean is subtracted,
/// then they are divided by the deviation.
struct PixelNorm {
  Doubles mean = {}, deviation = {};
};

/// The channels that kNormalize has room for.
inline constexpr std::int64_t kMostNormalized = 4;

/// Whether `input` is fed images in floats, which may be fed as bytes instead.
bool can_feed_bytes(const Network& network, VarId input);
/// The input becomes one of bytes, of which kNormalize makes what it was; whoever read the input reads that. To be done
/// before append_backward, which has the numbers made once more instead of keeping them. Without a norm, which changes
/// no size: mean 0 and deviation 1.
void feed_bytes(Network& network, VarId input, PixelNorm norm);

}  // namespace lethe
