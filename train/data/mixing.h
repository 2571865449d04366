// Samples mixed with each other in pairs, one mix for all of a batch, as timm's loader mixes bytes (FastCollateMixup).
#pragma once
#include "framework/random.h"
#include "train/data/resized_crop.h"

namespace lethe {

struct Mix {
  double share = 1;   // of itself that each image keeps
  bool cuts = false;  // cutmix: a part comes from the other
  ImagePart cut = {};
};

/// The random stream of a batch in an epoch.
Random mixing_stream(std::uint64_t seed, std::int64_t epoch, std::int64_t batch);
/// Draws how images of that size are mixed.
Mix draw_mix(const Mixing& setting, const ImageShape& image, Random random);
/// Mixes two images with each other, to the nearest byte.
void mix_images(const Mix& mix, const ImageShape& image, std::uint8_t* a, std::uint8_t* b);

/// Of the distribution Beta(alpha, alpha).
double beta(Random& random, double alpha);

}  // namespace lethe
