// Figures drawn when they are read. Sample i shows kind i modulo their number; everything else about it is drawn from a
// random stream of its own.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "framework/error.h"
#include "framework/language/init.h"
#include "framework/random.h"
#include "train/data/synthetic_images.h"

namespace lethe {
namespace {

float length_of(float x, float y) { return std::sqrt(x * x + y * y); }
float box(float x, float y, float half_width, float half_height) {
  return std::max(std::fabs(x) - half_width, std::fabs(y) - half_height);
}

float disc(float x, float y) { return length_of(x, y) - 0.9f; }
float ring(float x, float y) { return std::fabs(length_of(x, y) - 0.7f) - 0.2f; }
float square(float x, float y) { return box(x, y, 0.7f, 0.7f); }
float frame(float x, float y) { return std::max(box(x, y, 0.7f, 0.7f), -box(x, y, 0.38f, 0.38f)); }
float bar(float x, float y) { return box(x, y, 0.95f, 0.25f); }
float cross(float x, float y) { return std::min(box(x, y, 0.95f, 0.24f), box(x, y, 0.24f, 0.95f)); }
float corner(float x, float y) { return std::min(box(x + 0.45f, y, 0.25f, 0.7f), box(x, y + 0.45f, 0.7f, 0.25f)); }
float crescent(float x, float y) { return std::max(length_of(x, y) - 0.9f, 0.75f - length_of(x - 0.45f, y)); }

/// Equilateral, its corners on the unit circle.
float triangle(float x, float y) {
  constexpr float kSin60 = std::numbers::sqrt3_v<float> / 2;
  return std::max(-y, kSin60 * std::fabs(x) + 0.5f * y) - 0.5f;
}

/// Five points on the unit circle: folded to half a point, it is one edge.
float star(float x, float y) {
  constexpr float kPoint = 2 * std::numbers::pi_v<float> / 5, kInner = 0.42f;
  const float radius = length_of(x, y);
  const float turned = std::atan2(x, y) / kPoint, angle = std::fabs(turned - std::round(turned)) * kPoint;
  const float along = radius * std::cos(angle), across = radius * std::sin(angle);
  // The edge from the point (1, 0) to the notch at angle kPoint / 2 and radius kInner.
  const float notch_x = kInner * std::cos(kPoint / 2), notch_y = kInner * std::sin(kPoint / 2);
  const float length = length_of(notch_x - 1, notch_y);
  return ((along - 1) * notch_y - across * (notch_x - 1)) / length;
}

/// Red, green and blue in [0, 1] of a hue in [0, 1), mixed with white and darkened.
using Colour = std::array<float, 3>;

Colour colour_of(float hue, float saturation, float value) {
  Colour colour;
  for (int c = 0; c < 3; ++c) {
    const float turn = hue * 6 + static_cast<float>(6 - 2 * c);  // the three peak a third of the circle apart
    const float from_peak = std::fabs(std::fmod(turn + 3, 6.0f) - 3);
    colour[c] = value * (1 - saturation * (1 - std::clamp(2 - from_peak, 0.0f, 1.0f)));
  }
  return colour;
}

/// All that is random in a picture but the noise. Lengths in pixels.
struct Picture {
  const Figure* figure;
  float centre_x, centre_y, radius;
  float cosine, sine;                  // of its turn, divided by the radius
  Colour paint, ground, ground_slope;  // the ground's slope: change from one end of the image to the other
  float slope_x, slope_y, noise;
};

/// Draws them.
class Pictures {
 public:
  Pictures(const ImageShape& image, std::int64_t kinds, std::uint64_t seed)
      : image_(image),
        kinds_(kinds),
        seed_(seed),
        colours_((kinds + std::ssize(figures()) - 1) / std::ssize(figures())) {}

  std::int32_t kind_of(std::int64_t index) const { return static_cast<std::int32_t>(index % kinds_); }
  /// Writes a mask, too: 1 + the kind where the figure covers half of a pixel or more, else 0.
  void draw(Split split, std::int64_t index, std::uint8_t* pixels, std::int32_t* mask = nullptr) const;
  std::vector<std::string> names() const;

 private:
  Picture compose(std::int32_t kind, Random& random) const;

  ImageShape image_;
  std::int64_t kinds_;
  std::uint64_t seed_;
  std::int64_t colours_;  // that tell kinds apart; 1: any colour
};

Picture Pictures::compose(std::int32_t kind, Random& random) const {
  const auto between = [&](double low, double high) {
    return static_cast<float>(low + (high - low) * random.uniform());
  };
  const auto height = static_cast<float>(image_.height), width = static_cast<float>(image_.width);
  Picture picture{};
  picture.figure = &figures()[kind % figures().size()];
  picture.radius = between(0.28, 0.44) * std::min(height, width);
  picture.centre_x = between(picture.radius, std::max(width - picture.radius, picture.radius));
  picture.centre_y = between(picture.radius, std::max(height - picture.radius, picture.radius));
  const float turn = between(0, 2 * std::numbers::pi);
  picture.cosine = std::cos(turn) / picture.radius;
  picture.sine = std::sin(turn) / picture.radius;
  const auto colour = static_cast<float>(kind / std::ssize(figures()));
  const float share = colours_ > 1 ? (colour + between(0.35, 0.65)) / static_cast<float>(colours_) : between(0, 1);
  const float saturation = between(0.6, 1), value = between(0.75, 1);
  // One channel has no hue: there the share is brightness.
  picture.paint = image_.channels == 1 ? Colour{0.45f + 0.55f * share} : colour_of(share, saturation, value);
  const float ground = between(0.02, 0.25);
  for (int c = 0; c < 3; ++c) {
    picture.ground[c] = ground + between(-0.02, 0.05);
    picture.ground_slope[c] = between(-0.1, 0.1);
  }
  const float slope = between(0, 2 * std::numbers::pi);
  picture.slope_x = std::cos(slope) / width;
  picture.slope_y = std::sin(slope) / height;
  picture.noise = between(0, 0.12);
  return picture;
}

/// How much of the pixel (x, y) from the centre the figure covers: its border is one pixel wide.
float cover_of(const Picture& picture, float x, float y) {
  const float reach = picture.radius + 1;
  if (x * x + y * y > reach * reach) return 0;
  const float turned_x = x * picture.cosine + y * picture.sine, turned_y = y * picture.cosine - x * picture.sine;
  const float distance = picture.figure->distance(turned_x, turned_y) * picture.radius;
  return std::clamp(0.5f - distance, 0.0f, 1.0f);
}

void Pictures::draw(Split split, std::int64_t index, std::uint8_t* pixels, std::int32_t* mask) const {
  const auto number = static_cast<std::uint64_t>(index);
  Random stream(seed_, hash_of("shapes") + static_cast<std::uint64_t>(split), number);
  const Picture picture = compose(kind_of(index), stream);
  const std::uint64_t noise_key = stream_key(seed_, hash_of("shapes noise") + static_cast<std::uint64_t>(split));
  std::uint64_t drawn = 0;
  Philox4 noise{};
  for (std::int64_t row = 0; row < image_.height; ++row)
    for (std::int64_t column = 0; column < image_.width; ++column) {
      const float x = static_cast<float>(column) + 0.5f - picture.centre_x;
      const float y = static_cast<float>(row) + 0.5f - picture.centre_y;
      const float cover = cover_of(picture, x, y), along = x * picture.slope_x + y * picture.slope_y;
      if (mask) *mask++ = cover < 0.5f ? 0 : 1 + kind_of(index);
      for (std::int64_t c = 0; c < image_.channels; ++c, ++drawn) {
        if (drawn % 16 == 0) noise = philox(noise_key, number, drawn / 16);
        const float random = static_cast<float>(noise.word[drawn / 4 % 4] >> (8 * (drawn % 4)) & 255) / 127.5f - 1;
        const float ground = picture.ground[c % 3] + along * picture.ground_slope[c % 3];
        const float value = ground + cover * (picture.paint[c % 3] - ground) + random * picture.noise;
        const float bounded = std::clamp(value, 0.0f, 1.0f);
        *pixels++ = static_cast<std::uint8_t>(bounded * 255 + 0.5f);
      }
    }
}

std::vector<std::string> Pictures::names() const {
  std::vector<std::string> names;
  for (std::int64_t kind = 0; kind < kinds_; ++kind) {
    const std::string figure(figures()[kind % std::ssize(figures())].name);
    names.push_back(colours_ == 1 ? figure : message(figure, " in colour ", kind / std::ssize(figures()) + 1));
  }
  return names;
}

class Shapes final : public Dataset {
 public:
  Shapes(DataInfo info, const Pictures& pictures) : Dataset(std::move(info)), pictures_(pictures) {}
  std::int32_t read(Split split, std::int64_t index, CropAt, std::uint8_t* pixels) const override {
    pictures_.draw(split, index, pixels);
    return pictures_.kind_of(index);
  }

 private:
  Pictures pictures_;
};

class ShapeMasks final : public Masks {
 public:
  ShapeMasks(DataInfo info, const Pictures& pictures) : Masks(std::move(info)), pictures_(pictures) {}
  void read(Split split, std::int64_t index, CropAt, std::uint8_t* pixels, std::int32_t* labels) const override {
    pictures_.draw(split, index, pixels, labels);
  }

 private:
  Pictures pictures_;
};

DataInfo shapes_info(const char* name, const ImageShape& image, const SampleCounts& counts,
                     std::vector<std::string> classes) {
  const auto channels = static_cast<std::size_t>(image.channels);
  return {.name = name,
          .image = image,
          .classes = std::move(classes),
          .sizes = {counts.training, counts.test},
          .mean = std::vector<double>(channels, 0.22),
          .deviation = std::vector<double>(channels, 0.22)};  // as measured
}

}  // namespace

const std::array<Figure, 10>& figures() {
  static constexpr std::array<Figure, 10> kFigures{{{"disc", disc},
                                                    {"triangle", triangle},
                                                    {"cross", cross},
                                                    {"ring", ring},
                                                    {"bar", bar},
                                                    {"star", star},
                                                    {"frame", frame},
                                                    {"crescent", crescent},
                                                    {"square", square},
                                                    {"corner", corner}}};
  return kFigures;
}

std::unique_ptr<Dataset> make_shapes(const ImageShape& image, std::int64_t classes, std::uint64_t seed,
                                     const SampleCounts& counts) {
  const Pictures pictures(image, classes, seed);
  return std::make_unique<Shapes>(shapes_info("shapes", image, counts, pictures.names()), pictures);
}

std::unique_ptr<Masks> make_shape_masks(const ImageShape& image, std::int64_t classes, std::uint64_t seed,
                                        const SampleCounts& counts) {
  check_as(Exit::Data, classes >= 2, "shape-masks: tells figures from their ground, the network tells ", classes,
           " apart");
  const Pictures pictures(image, classes - 1, seed);
  std::vector<std::string> names = pictures.names();
  names.insert(names.begin(), "ground");
  return std::make_unique<ShapeMasks>(shapes_info("shape-masks", image, counts, std::move(names)), pictures);
}

}  // namespace lethe
