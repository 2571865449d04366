#include "framework/language/sample_layout.h"

#include <algorithm>
#include <numeric>

#include "framework/error.h"

namespace lethe {

const std::vector<std::string>& layout_names() {
  static const std::vector<std::string> names = {"image", "plain"};
  return names;
}

std::string_view name_of(Layout layout) { return layout_names()[static_cast<std::size_t>(layout)]; }

Layout layout_named(std::string_view name) {
  const auto found = std::find(layout_names().begin(), layout_names().end(), name);
  check(found != layout_names().end(), "unknown layout ", quote(name), "; known: image, plain");
  return static_cast<Layout>(found - layout_names().begin());
}

Ints stated_axes(std::size_t rank, Layout layout) {
  Ints axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (layout == Layout::Image && rank >= 3) std::rotate(axes.end() - 3, axes.end() - 1, axes.end());
  return axes;
}

Shape memory_shape(Shape stated, Layout layout) {
  if (layout == Layout::Image && stated.size() >= 3) std::rotate(stated.end() - 3, stated.end() - 2, stated.end());
  return stated;
}

Shape stated_shape(const Shape& in_memory, Layout layout) {
  Shape stated;
  for (const std::int64_t axis : stated_axes(in_memory.size(), layout))
    stated.push_back(in_memory[static_cast<std::size_t>(axis)]);
  return stated;
}

}  // namespace lethe
