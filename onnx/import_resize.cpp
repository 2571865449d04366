// Resize: as our upsample where that says the same, else by what each place of an axis takes of the others.
#include <algorithm>
#include <cmath>

#include "framework/error.h"
#include "onnx/array.h"
#include "onnx/import_plane.h"
#include "onnx/import_tables.h"

namespace lethe::onnx {
namespace {

constexpr std::int64_t kMostOfAxis = 1 << 16, kMostShares = 1 << 24;

/// How an axis becomes another, by ONNX's Resize.
struct ResizedAxis {
  std::int64_t in = 1, out = 1;
  double scale = 1;
  double begin = 0, end = 1;  // of what is cropped, as shares of the axis
};

struct ResizeSetting {
  std::string mode, places, nearest;
  double cubic = -0.75;
  bool excludes_outside = false, antialias = false;
};

double place_in(const ResizeSetting& how, const ResizedAxis& axis, std::int64_t to) {
  const auto x = static_cast<double>(to), in = static_cast<double>(axis.in), out = static_cast<double>(axis.out);
  if (how.places == "asymmetric") return x / axis.scale;
  if (how.places == "align_corners") return axis.out == 1 ? 0 : x * (in - 1) / (axis.scale * in - 1);
  if (how.places == "tf_crop_and_resize")
    return axis.out > 1 ? axis.begin * (in - 1) + x * (axis.end - axis.begin) * (in - 1) / (out - 1)
                        : 0.5 * (axis.begin + axis.end) * (in - 1);
  if (how.places == "pytorch_half_pixel" && axis.out == 1) return 0;
  const double place = (x + 0.5) / axis.scale - 0.5;
  if (how.places == "half_pixel_symmetric") return in / 2 * (1 - out / (axis.scale * in)) + place;
  return place;
}

std::int64_t nearest_to(const ResizeSetting& how, double place) {
  if (how.nearest == "floor") return static_cast<std::int64_t>(std::floor(place));
  if (how.nearest == "ceil") return static_cast<std::int64_t>(std::ceil(place));
  if (how.nearest == "round_prefer_ceil") return static_cast<std::int64_t>(std::floor(place + 0.5));
  return static_cast<std::int64_t>(std::ceil(place - 0.5));
}

/// What a place takes of one at a distance (Keys 1981 for cubic).
double share_at(const ResizeSetting& how, double distance) {
  const double x = std::fabs(distance), a = how.cubic;
  if (how.mode == "linear") return std::max(0.0, 1 - x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

/// [in, out]: what each place of the result takes of each of the axis.
std::vector<float> shares(const ResizeSetting& how, const ResizedAxis& axis) {
  std::vector<float> matrix(static_cast<std::size_t>(axis.in * axis.out), 0.0F);
  for (std::int64_t to = 0; to < axis.out; ++to) {
    const double place = place_in(how, axis, to);
    if (how.places == "tf_crop_and_resize" && !(place >= 0 && place <= static_cast<double>(axis.in - 1))) continue;
    std::map<std::int64_t, double> taken;
    if (how.mode == "nearest") {
      taken[nearest_to(how, place)] = 1;
    } else {
      const double near = how.antialias ? std::min(axis.scale, 1.0) : 1.0;
      const auto reach = static_cast<std::int64_t>(std::ceil((how.mode == "linear" ? 1 : 2) / near));
      const auto middle = static_cast<std::int64_t>(std::floor(place));
      for (std::int64_t from = middle - reach; from <= middle + reach; ++from)
        if (!how.excludes_outside || (from >= 0 && from < axis.in))
          taken[from] = share_at(how, (static_cast<double>(from) - place) * near);
    }
    double sum = 0;
    for (const auto& [from, share] : taken) sum += share;
    for (const auto& [from, share] : taken) {
      const std::int64_t within = std::clamp<std::int64_t>(from, 0, axis.in - 1);
      matrix[static_cast<std::size_t>(within * axis.out + to)] += static_cast<float>(share / sum);
    }
  }
  return matrix;
}

/// The model's axis through a fixed matrix [in, out].
View mapped(ImportState& state, const ReadNode& node, const View& x, std::size_t axis, std::int64_t out,
            std::vector<float> matrix) {
  View rows = state.along(x, axis);
  const std::int64_t in = size_of(rows, axis, state.batch());
  const std::int64_t count = count_of(rows.memory) / in;
  const std::string flat = state.restated(rows, {{count, in}});
  const std::string weight = state.parameter(node.outputs[0] + ".shares", "", {{in, out}}, std::move(matrix), true);
  rows.layer = state.add(node.outputs[0] + ".along", {{"op", "matmul"}}, {flat, weight}, {{count, out}});
  rows.memory.resize(rows.memory.size() - rows.axes[axis].size());
  rows.axes[axis] = {std::ssize(rows.memory)};
  rows.memory.push_back(out);
  return rows;
}

/// The axes with their new sizes.
std::vector<ResizedAxis> resized_axes(const ImportState& state, const ReadNode& node, const Shape& from) {
  const bool is_old = node.type == "Upsample" || state.model.opset < 11;  // its scales are the second input
  const ReadTensor* const scales = state.optional_constant(node, is_old ? 1 : 2);
  const ReadTensor* const sizes = state.optional_constant(node, 3);
  const ReadTensor* const crop = is_old ? nullptr : state.optional_constant(node, 1);
  Ints axes = node.integers("axes", {});
  for (std::size_t i = 0; axes.empty() && i < from.size(); ++i) axes.resize(from.size());
  if (node.integers("axes", {}).empty())
    for (std::size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<std::int64_t>(i);
  std::vector<ResizedAxis> all;
  for (const std::int64_t size : from) all.push_back({size, size});
  const std::vector<float> by = scales && count_of(scales->shape) > 0 ? scales->floats() : std::vector<float>{};
  const Ints to = by.empty() && sizes ? sizes->integers() : Ints{};
  check_as(Exit::Data, by.size() == axes.size() || to.size() == axes.size(), node.text(),
           ": its sizes are no constants of its axes");
  const std::string policy = node.word("keep_aspect_ratio_policy", "stretch");
  double common = policy == "not_larger" ? INFINITY : 0;
  const auto scale_of = [&](std::size_t i) {
    return static_cast<double>(to[i]) / static_cast<double>(all[axis_of(node, axes[i], from.size())].in);
  };
  for (std::size_t i = 0; i < to.size() && policy != "stretch"; ++i)
    common = policy == "not_larger" ? std::min(common, scale_of(i)) : std::max(common, scale_of(i));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t at = axis_of(node, axes[i], from.size());
    ResizedAxis& axis = all[at];
    axis.scale = !by.empty() ? static_cast<double>(by[i]) : policy == "stretch" ? scale_of(i) : common;
    const double size = static_cast<double>(axis.in) * axis.scale;
    check_as(Exit::Data, axis.scale > 0 && size < static_cast<double>(kMostOfAxis) + 1, node.text(), ": makes ", size,
             " of ", axis.in);
    axis.out = !by.empty()           ? static_cast<std::int64_t>(std::floor(size))
               : policy == "stretch" ? to[i]
                                     : std::llround(size);
    check_as(Exit::Data, axis.scale > 0 && axis.out >= 1 && axis.out <= kMostOfAxis, node.text(), ": makes ", axis.out,
             " of ", axis.in);
    if (crop && count_of(crop->shape) == 2 * std::ssize(axes))
      axis.begin = static_cast<double>(crop->floats()[i]),
      axis.end = static_cast<double>(crop->floats()[axes.size() + i]);
  }
  return all;
}

void import_resize(ImportState& state, const ReadNode& node) {
  View x = state.value(node, 0);
  const bool is_old = node.type == "Upsample" || state.model.opset < 11;
  ResizeSetting how{node.word("mode", "nearest"),
                    node.word("coordinate_transformation_mode", is_old ? "asymmetric" : "half_pixel"),
                    node.word("nearest_mode", is_old ? "floor" : "round_prefer_floor"),
                    static_cast<double>(node.number("cubic_coeff_a", -0.75F)),
                    node.integer("exclude_outside", 0) != 0,
                    node.integer("antialias", 0) != 0};
  if (how.mode == "bilinear") how.mode = "linear";
  check_as(Exit::Data, how.mode == "nearest" || how.mode == "linear" || how.mode == "cubic", node.text(), ": mode ",
           quote(how.mode));
  check_as(Exit::Data, how.places != "tf_crop_and_resize" || node.number("extrapolation_value", 0) == 0, node.text(),
           ": a value beside the image is not read");
  const std::vector<ResizedAxis> axes = resized_axes(state, node, state.shape(x));
  // Times as large, a whole number: a layer of ours.
  const bool is_image = axes.size() == 4 && is_batch(x, 0) && axes[0].in == axes[0].out && axes[1].in == axes[1].out &&
                        !how.antialias && !how.excludes_outside;
  const bool is_nearest = how.mode == "nearest" && how.places == "asymmetric" && how.nearest == "floor";
  const bool is_bilinear = how.mode == "linear" && (how.places == "half_pixel" || how.places == "pytorch_half_pixel" ||
                                                    how.places == "align_corners");
  const auto exact = [](const ResizedAxis& axis) {
    return std::fabs(axis.scale * static_cast<double>(axis.in) - static_cast<double>(axis.out)) < 1e-6 &&
           axis.out >= axis.in;
  };
  if (is_image && (is_nearest || is_bilinear) && exact(axes[2]) && exact(axes[3])) {
    const Plane plane = plane_of(state, node);
    Json entry = {
        {"op", "upsample"}, {"size", {axes[2].out, axes[3].out}}, {"mode", is_nearest ? "nearest" : "bilinear"}};
    if (how.places == "align_corners") entry["align_corners"] = true;
    return give_plane(state, node, entry, plane, plane.layer, {plane.shape[0], axes[2].out, axes[3].out});
  }
  for (std::size_t axis = 0; axis < axes.size(); ++axis)
    if (axes[axis].in != axes[axis].out || how.places == "tf_crop_and_resize") {
      check_as(Exit::Data, !is_batch(x, axis), node.text(), ": resizes the batch");
      check_as(Exit::Data, axes[axis].in <= kMostOfAxis && axes[axis].in * axes[axis].out <= kMostShares, node.text(),
               ": makes ", axes[axis].out, " of ", axes[axis].in, ", which only an upsample by a whole number does");
      x = mapped(state, node, x, axis, axes[axis].out, shares(how, axes[axis]));
    }
  state.give(node, x);
}

}  // namespace

void add_resize_imports(ImportTable& table) { table["Resize"] = table["Upsample"] = import_resize; }

}  // namespace lethe::onnx
