#include "onnx/view.h"

#include <algorithm>
#include <map>
#include <set>

namespace lethe::onnx {
namespace {

std::int64_t memory_size(const View& view, std::int64_t axis, std::int64_t batch) {
  return axis == kBatchAxis ? batch : view.memory[static_cast<std::size_t>(axis)];
}

/// Memory axis `axis` becomes two, of sizes `outer` and the rest; `lists` of memory axes are renumbered.
void split(Shape& memory, std::int64_t axis, std::int64_t outer, const std::vector<std::vector<Ints>*>& lists) {
  std::int64_t& size = memory[static_cast<std::size_t>(axis)];
  const std::int64_t inner = size / outer;
  size = outer;
  memory.insert(memory.begin() + axis + 1, inner);
  for (std::vector<Ints>* const list : lists)
    for (Ints& parts : *list) {
      Ints now;
      for (const std::int64_t part : parts) {
        now.push_back(part > axis ? part + 1 : part);
        if (part == axis) now.push_back(axis + 1);
      }
      parts = now;
    }
}

/// The parts of a view in the order of the model's axes, which are dealt out to other axes.
class Parts {
 public:
  Parts(const View& view, std::int64_t batch) : layer_(view.layer), memory_(view.memory), batch_(batch), left_(1) {
    for (const Ints& parts : view.axes) left_[0].insert(left_[0].end(), parts.begin(), parts.end());
  }
  bool empty() const { return left_[0].empty(); }
  bool is_batch() const { return !empty() && left_[0].front() == kBatchAxis; }
  std::int64_t size() const { return is_batch() ? batch_ : memory_[static_cast<std::size_t>(left_[0].front())]; }
  /// The next part goes to the last axis.
  void deal() {
    dealt_.back().push_back(left_[0].front());
    left_[0].erase(left_[0].begin());
  }
  void begin_axis() { dealt_.emplace_back(); }
  /// The next part becomes two, the first of this size, which must divide it.
  void cut(std::int64_t outer) { split(memory_, left_[0].front(), outer, {&left_, &dealt_}); }
  View view() const { return {layer_, memory_, dealt_}; }

 private:
  std::string layer_;
  Shape memory_;
  std::int64_t batch_;
  std::vector<Ints> left_, dealt_;
};

/// The sizes of an axis' parts.
Shape sizes_of(const View& view, std::size_t axis) {
  Shape sizes;
  for (const std::int64_t part : view.axes[axis])
    sizes.push_back(part == kBatchAxis ? 0 : view.memory[static_cast<std::size_t>(part)]);
  return sizes;
}

}  // namespace

View plain_view(const std::string& layer, const Shape& sample) {
  View view{layer, sample, {{kBatchAxis}}};
  for (std::size_t axis = 0; axis < sample.size(); ++axis) view.axes.push_back({static_cast<std::int64_t>(axis)});
  return view;
}

View image_view(const std::string& layer, const Shape& chw) {
  return {layer, {chw[1], chw[2], chw[0]}, {{kBatchAxis}, {2}, {0}, {1}}};
}

std::int64_t size_of(const View& view, std::size_t axis, std::int64_t batch) {
  std::int64_t size = 1;
  for (const std::int64_t part : view.axes[axis]) size *= memory_size(view, part, batch);
  return size;
}

Shape shape_of(const View& view, std::int64_t batch) {
  Shape shape;
  for (std::size_t axis = 0; axis < view.axes.size(); ++axis) shape.push_back(size_of(view, axis, batch));
  return shape;
}

bool is_batch(const View& view, std::size_t axis) {
  return axis < view.axes.size() && view.axes[axis] == Ints{kBatchAxis};
}

bool has_batch(const View& view) {
  return std::ranges::any_of(view.axes, [](const Ints& parts) { return std::ranges::count(parts, kBatchAxis) > 0; });
}

View transposed(const View& view, const Ints& perm) {
  View turned{view.layer, view.memory, {}};
  for (const std::int64_t axis : perm) turned.axes.push_back(view.axes[static_cast<std::size_t>(axis)]);
  return turned;
}

View with_one(const View& view, std::int64_t axis) {
  View more = view;
  more.axes.insert(more.axes.begin() + axis, Ints{});
  return more;
}

View without_one(const View& view, std::int64_t axis) {
  View less = view;
  less.axes.erase(less.axes.begin() + axis);
  return less;
}

std::optional<View> reshaped(const View& view, const Shape& to, std::int64_t batch) {
  // Axes of the model that follow each other in memory may be cut elsewhere.
  View joined{view.layer, view.memory, {{}}};
  for (const Ints& parts : view.axes) joined.axes[0].insert(joined.axes[0].end(), parts.begin(), parts.end());
  Parts parts(simplified(joined), batch);
  for (const std::int64_t wanted : to) {
    parts.begin_axis();
    std::int64_t left = wanted;
    if (parts.is_batch() && batch == 1) parts.deal();
    while (left > 1) {
      if (parts.empty()) return {};
      const std::int64_t next = parts.size();
      const bool is_whole = left % next == 0;
      if (!is_whole && (parts.is_batch() || next % left != 0)) return {};
      if (!is_whole) parts.cut(left);
      left /= parts.size();
      parts.deal();
    }
  }
  if (parts.is_batch() && batch == 1) return {};
  return parts.empty() ? std::optional(simplified(parts.view())) : std::nullopt;
}

View simplified(const View& view) {
  // A memory axis is left out if its size is 1, and is a part of the one before it if it always follows that.
  std::set<std::pair<std::int64_t, std::int64_t>> neighbours;
  View simple{view.layer, {}, {}};
  for (const Ints& parts : view.axes) {
    simple.axes.emplace_back();
    for (const std::int64_t part : parts)
      if (part == kBatchAxis || view.memory[static_cast<std::size_t>(part)] != 1) simple.axes.back().push_back(part);
    const Ints& left = simple.axes.back();
    for (std::size_t i = 1; i < left.size(); ++i) neighbours.emplace(left[i - 1], left[i]);
  }
  std::map<std::int64_t, std::int64_t> number = {{kBatchAxis, kBatchAxis}};  // of those that stay
  std::int64_t before = kBatchAxis;
  for (std::int64_t axis = 0; axis < std::ssize(view.memory); ++axis) {
    const std::int64_t size = view.memory[static_cast<std::size_t>(axis)];
    if (size == 1) continue;
    if (before != kBatchAxis && neighbours.contains({before, axis})) {
      simple.memory.back() *= size;
    } else {
      number[axis] = std::ssize(simple.memory);
      simple.memory.push_back(size);
    }
    before = axis;
  }
  for (Ints& parts : simple.axes) {
    std::erase_if(parts, [&](std::int64_t part) { return !number.contains(part); });
    for (std::int64_t& part : parts) part = number[part];
  }
  return simple;
}

Ints order_of(const View& view) {
  Ints order;
  for (const Ints& parts : view.axes)
    for (const std::int64_t part : parts)
      if (part != kBatchAxis) order.push_back(part);
  return order;
}

bool is_in_order(const Ints& order) { return std::ranges::is_sorted(order); }

View reordered(const View& view, const Ints& order, const std::string& layer) {
  View made{layer, {}, view.axes};
  Ints to(view.memory.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    made.memory.push_back(view.memory[static_cast<std::size_t>(order[i])]);
    to[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  }
  for (Ints& parts : made.axes)
    for (std::int64_t& part : parts)
      if (part != kBatchAxis) part = to[static_cast<std::size_t>(part)];
  return made;
}

bool refine(View& a, View& b) {
  for (std::size_t axis = 0; axis < a.axes.size(); ++axis) {
    // From the end: of two parts that differ the larger one is cut.
    std::size_t done = 0;
    for (;;) {
      const Shape of_a = sizes_of(a, axis), of_b = sizes_of(b, axis);
      if (of_a.empty() || of_b.empty() || of_a == of_b) break;
      if (done >= of_a.size() || done >= of_b.size()) return false;
      const std::size_t at_a = of_a.size() - 1 - done, at_b = of_b.size() - 1 - done;
      const std::int64_t mine = of_a[at_a], other = of_b[at_b];
      if (mine != other) {
        View& larger = mine > other ? a : b;
        const std::int64_t size = std::max(mine, other), inner = std::min(mine, other);
        if (inner == 0 || size % inner != 0) return false;
        split(larger.memory, larger.axes[axis][mine > other ? at_a : at_b], size / inner, {&larger.axes});
      }
      ++done;
    }
  }
  return true;
}

}  // namespace lethe::onnx
