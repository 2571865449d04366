// How training images are varied at random.
#pragma once
#include <cstdint>
#include <limits>
#include <string>

namespace lethe {

/// A random part of the stored image, scaled to the network's size (Inception's, as timm's
/// RandomResizedCropAndInterpolation).
struct ResizedCrop {
  double least = 0.08, most = 1;                     // share of the image's area
  double narrowest = 3.0 / 4.0, widest = 4.0 / 3.0;  // width by height; its logarithm is uniform
  bool operator==(const ResizedCrop&) const = default;
};

/// Factors from 1 - x to 1 + x, and turns of the hue from -x to x; applied in random order (torchvision's ColorJitter).
struct ColorJitter {
  double brightness = 0, contrast = 0, saturation = 0, hue = 0;
  bool any() const { return brightness > 0 || contrast > 0 || saturation > 0 || hue > 0; }
  bool operator==(const ColorJitter&) const = default;
};

/// Some of a list of operations, each with a probability, all as strong (Cubuk et al., 2020, as timm has it).
struct RandAugment {
  std::int64_t layers = 0;  // operations that are drawn; 0: none
  double magnitude = 10;    // of 10
  double deviation = 0;     // of the magnitude: Gaussian; infinite: uniform from 0 to the magnitude
  double most = 10;         // magnitude
  double probability = 0.5;
  bool increasing = false;  // all operations change more with a larger magnitude
  bool operator==(const RandAugment&) const = default;
};

/// All images of a batch mixed in pairs (Zhang et al., 2018; Yun et al., 2019), as timm's Mixup in mode "batch".
struct Mixing {
  double mixup = 0, cutmix = 0;  // alpha of the Beta distribution of an image's share in itself; 0: not so
  double probability = 1;        // of a batch to be mixed
  double cut_probability = 0.5;  // where there are both: of cutmix
  bool any() const { return mixup > 0 || cutmix > 0; }
  bool operator==(const Mixing&) const = default;
};

struct Augmentation {
  std::int64_t pad_crop = 0;  // black border of so many pixels, then a random crop back to the image's size
  bool flip = false;          // left to right, every other time
  std::int64_t cutout = 0;    // a square of this side, centred anywhere in the image, becomes the mean colour
  bool random_crop = false;   // for images larger than the network's (imagefolder): any part, not the centre
  bool resizes = false;       // a random part, scaled: `resized_crop`
  ResizedCrop resized_crop = {};
  double rotate = 0;  // by up to so many degrees to either side, over the mean colour
  ColorJitter color_jitter = {};
  RandAugment rand_augment = {};
  Mixing mixing = {};
  bool operator==(const Augmentation&) const = default;
};

/// "none", or words with commas between:
///   pad-crop[=N]  flip  cutout[=N]  random-crop  random-resized-crop[=LEAST:MOST[:NARROWEST:WIDEST]]  rotate=DEGREES
///   color-jitter=X | color-jitter=BRIGHTNESS:CONTRAST:SATURATION[:HUE]
///   rand[-mMAGNITUDE][-nLAYERS][-mstdDEVIATION][-mmaxMOST][-pPROBABILITY][-inc1], as timm spells it
///   mixup=ALPHA  cutmix=ALPHA  mix-prob=P  cutmix-prob=P
/// Fails, saying what was expected, on anything else.
Augmentation augmentation_of(const std::string& text);

}  // namespace lethe
