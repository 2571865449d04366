#include "train/data/rand_augment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace lethe {
namespace {

using Border = std::vector<std::uint8_t>;
constexpr double kWhole = 10;  // the magnitude that is all of an operation

double part_of(double magnitude, double of) { return magnitude / kWhole * of; }
int whole_part(double magnitude, double of) { return static_cast<int>(part_of(magnitude, of)); }
double either(double value, bool negated) { return negated ? -value : value; }
double factor(double magnitude) { return part_of(magnitude, 1.8) + 0.1; }
/// Away from 1, which changes nothing.
double growing_factor(double magnitude, bool negated) {
  return std::max(0.1, 1 + either(part_of(magnitude, 0.9), negated));
}

using Adjust = void (*)(Image&, double);
template <Adjust adjust>
void adjusted(Image& image, double m, bool, Filter, const Border&) {
  adjust(image, factor(m));
}
template <Adjust adjust>
void adjusted_more(Image& image, double m, bool negated, Filter, const Border&) {
  adjust(image, growing_factor(m, negated));
}
using Change = void (*)(Image&);
template <Change change>
void changed(Image& image, double, bool, Filter, const Border&) {
  change(image);
}

void rotated(Image& image, double m, bool negated, Filter filter, const Border& border) {
  transform(image, rotation(image.shape, either(part_of(m, 30), negated)), filter, border);
}
/// By which of the six numbers, and how much of it; `of` is a length, if the number is one.
template <int number>
void moved(Image& image, double by, double of, Filter filter, const Border& border) {
  Affine affine = {1, 0, 0, 0, 1, 0};
  affine[number] = by * of;
  transform(image, affine, filter, border);
}
void shear_x(Image& image, double m, bool negated, Filter filter, const Border& border) {
  moved<1>(image, either(part_of(m, 0.3), negated), 1, filter, border);
}
void shear_y(Image& image, double m, bool negated, Filter filter, const Border& border) {
  moved<3>(image, either(part_of(m, 0.3), negated), 1, filter, border);
}
void translate_x(Image& image, double m, bool negated, Filter filter, const Border& border) {
  moved<2>(image, either(part_of(m, 0.45), negated), static_cast<double>(image.shape.width), filter, border);
}
void translate_y(Image& image, double m, bool negated, Filter filter, const Border& border) {
  moved<5>(image, either(part_of(m, 0.45), negated), static_cast<double>(image.shape.height), filter, border);
}
void posterize_less(Image& image, double m, bool, Filter, const Border&) {
  posterize(image, std::min(whole_part(m, 4), 8));
}
void posterize_more(Image& image, double m, bool, Filter, const Border&) {
  posterize(image, std::max(4 - whole_part(m, 4), 0));
}
void solarize_less(Image& image, double m, bool, Filter, const Border&) {
  solarize(image, std::min(whole_part(m, 256), 256));
}
void solarize_more(Image& image, double m, bool, Filter, const Border&) { solarize(image, 256 - whole_part(m, 256)); }
void solarize_added(Image& image, double m, bool, Filter, const Border&) {
  solarize_add(image, std::min(whole_part(m, 110), 128));
}

constexpr std::array<RandOp, 15> kOps = {{{"AutoContrast", changed<stretch_contrast>},
                                          {"Equalize", changed<equalize>},
                                          {"Invert", changed<invert>},
                                          {"Rotate", rotated},
                                          {"Posterize", posterize_less},
                                          {"Solarize", solarize_less},
                                          {"SolarizeAdd", solarize_added},
                                          {"Color", adjusted<adjust_saturation>},
                                          {"Contrast", adjusted<adjust_contrast>},
                                          {"Brightness", adjusted<adjust_brightness>},
                                          {"Sharpness", adjusted<adjust_sharpness>},
                                          {"ShearX", shear_x},
                                          {"ShearY", shear_y},
                                          {"TranslateXRel", translate_x},
                                          {"TranslateYRel", translate_y}}};
constexpr std::array<RandOp, 15> kIncreasing = {{{"AutoContrast", changed<stretch_contrast>},
                                                 {"Equalize", changed<equalize>},
                                                 {"Invert", changed<invert>},
                                                 {"Rotate", rotated},
                                                 {"PosterizeIncreasing", posterize_more},
                                                 {"SolarizeIncreasing", solarize_more},
                                                 {"SolarizeAdd", solarize_added},
                                                 {"ColorIncreasing", adjusted_more<adjust_saturation>},
                                                 {"ContrastIncreasing", adjusted_more<adjust_contrast>},
                                                 {"BrightnessIncreasing", adjusted_more<adjust_brightness>},
                                                 {"SharpnessIncreasing", adjusted_more<adjust_sharpness>},
                                                 {"ShearX", shear_x},
                                                 {"ShearY", shear_y},
                                                 {"TranslateXRel", translate_x},
                                                 {"TranslateYRel", translate_y}}};

}  // namespace

std::span<const RandOp> rand_ops(bool increasing) { return increasing ? kIncreasing : kOps; }

std::optional<double> drawn_magnitude(const RandAugment& setting, Random& random) {
  if (random.uniform() >= setting.probability) return std::nullopt;
  double magnitude = setting.magnitude;
  if (std::isinf(setting.deviation))
    magnitude *= random.uniform();
  else if (setting.deviation > 0)
    magnitude += setting.deviation * gaussian(random);
  return std::clamp(magnitude, 0.0, setting.most);
}

void rand_augment(Image& image, const RandAugment& setting, Random& random, const Border& border) {
  const std::span<const RandOp> ops = rand_ops(setting.increasing);
  for (std::int64_t layer = 0; layer < setting.layers; ++layer) {
    const RandOp& op = ops[random.below(static_cast<std::uint32_t>(ops.size()))];
    const std::optional<double> magnitude = drawn_magnitude(setting, random);
    if (!magnitude) continue;
    const bool negated = random.below(2) == 1;
    op.apply(image, *magnitude, negated, random.below(2) == 1 ? Filter::Bicubic : Filter::Bilinear, border);
  }
}

double gaussian(Random& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
  return radius * std::cos(2 * std::numbers::pi * random.uniform());
}

}  // namespace lethe
