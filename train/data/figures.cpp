#include "train/data/figures.h"

#include <algorithm>
#include <cmath>
#include <numbers>

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

}  // namespace lethe
