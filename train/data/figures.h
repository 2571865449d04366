// Ten plane figures that stay apart when turned, as signed distances: negative inside, positive outside.
#pragma once
#include <array>
#include <string_view>

namespace lethe {

struct Figure {
  std::string_view name;
  /// Distance of (x, y) from the border of the figure, which fits in the unit disc. (At outer corners the nearest
  /// edge's line counts, which is enough for smooth borders.)
  float (*distance)(float x, float y);
};

const std::array<Figure, 10>& figures();

}  // namespace lethe
