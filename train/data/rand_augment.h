// RandAugment (Cubuk et al., 2020) with timm's operations and levels.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "framework/random.h"
#include "train/data/augmentation.h"
#include "train/data/pixel_ops.h"

namespace lethe {

/// An operation that changes an image by a magnitude from 0 to 10, or beyond as far as `RandAugment::most` goes.
struct RandOp {
  const char* name;
  /// `negated`: whether the change goes the other way, where it has two.
  void (*apply)(Image& image, double magnitude, bool negated, Filter filter, const std::vector<std::uint8_t>& border);
};

/// timm's _RAND_INCREASING_TRANSFORMS, or _RAND_TRANSFORMS, under their names and in their order.
std::span<const RandOp> rand_ops(bool increasing);

/// The magnitude of an operation; none where it is not applied.
std::optional<double> drawn_magnitude(const RandAugment& setting, Random& random);

/// Draws operations and applies them. What they move in from beyond the border has its colour, by channel.
void rand_augment(Image& image, const RandAugment& setting, Random& random, const std::vector<std::uint8_t>& border);

/// Gaussian, with mean 0 and deviation 1 (Box and Muller).
double gaussian(Random& random);

}  // namespace lethe
