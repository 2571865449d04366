// Norms over the batch, and what moves pixels.
#include <algorithm>

#include "framework/error.h"
#include "onnx/import_numbers.h"
#include "onnx/import_plane.h"
#include "onnx/import_tables.h"

namespace lethe::onnx {
namespace {

void import_batch_norm(ImportState& state, const ReadNode& node) {
  const View& x = state.value(node, 0);
  check_as(Exit::Data,
           node.integer("training_mode", 0) == 0 && node.integer("is_test", 1) == 1 && node.integer("spatial", 1) == 1,
           node.text(), ": is of a form that is not read");
  check_as(Exit::Data, x.axes.size() >= 2 && is_batch(x, 0), node.text(), ": its input is ", state.text(x));
  View along = state.image_or_none(x).empty() ? state.along(x, 1) : x;
  const std::int64_t channels = size_of(x, 1, state.batch());
  const std::string name = state.name_of(node);
  // ONNX's momentum is what the old statistics keep.
  state.give_like(node,
                  {{"op", "bn"},
                   {"name", name},
                   {"momentum", as_written(static_cast<float>(1 - as_written(node.number("momentum", 0.9F))))},
                   {"eps", as_written(node.number("epsilon", 1e-5F))}},
                  along);
  const char* const names[] = {".weight", ".bias", ".running_mean", ".running_var"};
  for (std::size_t i = 0; i < 4; ++i) {
    const ReadTensor& tensor = state.needed(node, 1 + i, "statistic");
    check_as(Exit::Data, tensor.shape == Shape{channels}, node.text(), ": a tensor of ", text_of(tensor.shape));
    state.add_weight(name + names[i], tensor.shape, tensor.floats(), node.inputs[1 + i]);
  }
}

void import_lrn(ImportState& state, const ReadNode& node) {
  const Plane x = plane_of(state, node);
  check_as(Exit::Data, node.integer("size", 1) % 2 == 1, node.text(), ": over an even number of channels is not read");
  give_plane(state, node,
             {{"op", "lrn"},
              {"size", node.integer("size", 1)},
              {"alpha", as_written(node.number("alpha", 1e-4F))},
              {"beta", as_written(node.number("beta", 0.75F))},
              {"k", as_written(node.number("bias", 1))}},
             x, x.layer, x.shape);
}

/// Blocks of channels that become pixels: in mode CRD a layer of ours, else by the order of axes.
void import_depth_to_space(ImportState& state, const ReadNode& node) {
  const View& x = state.value(node, 0);
  const std::int64_t r = node.integer("blocksize", 1);
  check_as(Exit::Data, r >= 1 && r < 1024 && x.axes.size() == 4, node.text(), ": blocks of ", r, " of ", state.text(x));
  const Shape of = state.shape(x);
  check_as(Exit::Data, of[1] % (r * r) == 0, node.text(), ": of ", of[1], " channels");
  const std::int64_t channels = of[1] / (r * r);
  if (node.word("mode", "DCR") == "CRD") {
    const Plane plane = plane_of(state, node);
    return give_plane(state, node, {{"op", "pixel_shuffle"}, {"r", r}}, plane, plane.layer,
                      {channels, of[2] * r, of[3] * r});
  }
  const auto apart = reshaped(x, {of[0], r, r, channels, of[2], of[3]}, state.batch());
  check_as(Exit::Data, apart.has_value(), node.text(), ": of ", state.text(x), " is not read");
  const View ordered = transposed(*apart, {0, 3, 4, 1, 5, 2});
  state.give(node, *reshaped(ordered, {of[0], channels, of[2] * r, of[3] * r}, state.batch()));
}

void import_space_to_depth(ImportState& state, const ReadNode& node) {
  const View& x = state.value(node, 0);
  const std::int64_t r = node.integer("blocksize", 1);
  const Shape of = state.shape(x);
  check_as(Exit::Data, r >= 1 && of.size() == 4 && of[2] % r == 0 && of[3] % r == 0, node.text(), ": blocks of ", r,
           " of ", state.text(x));
  const auto apart = reshaped(x, {of[0], of[1], of[2] / r, r, of[3] / r, r}, state.batch());
  check_as(Exit::Data, apart.has_value(), node.text(), ": of ", state.text(x), " is not read");
  state.give(node, *reshaped(transposed(*apart, {0, 3, 5, 1, 2, 4}), {of[0], of[1] * r * r, of[2] / r, of[3] / r},
                             state.batch()));
}

/// Pads of all axes, before them and after them; none where they are not zeros.
Ints zeros_around(const ImportState& state, const ReadNode& node) {
  const ReadTensor* const given = state.optional_constant(node, 1);
  const ReadTensor* const value = state.optional_constant(node, 2);
  const bool is_zero = value ? state.constants.number(node.inputs[2]) == 0.0 : node.number("value", 0) == 0;
  if (!is_zero || node.word("mode", "constant") != "constant" || node.inputs.size() > 3) return {};
  return given ? given->integers() : node.integers("pads", {});
}

/// How many channels of zeros these pads add to an image, half of them in front; 0 if they do something else.
std::int64_t channels_added(const Ints& pads) {
  const bool fits = pads.size() == 8 && pads[1] >= 0 && pads[5] >= 0 && pads[1] < kMostPads && pads[5] < kMostPads;
  const std::int64_t more = fits ? pads[1] + pads[5] : 0;
  return more > 0 && pads == Ints{0, more / 2, 0, 0, 0, more - more / 2, 0, 0} ? more : 0;
}

/// Pads of any axes, of any kind.
void give_padded(ImportState& state, const ReadNode& node) {
  const View& x = state.value(node, 0);
  const Shape of = state.shape(x);
  const std::string mode = node.word("mode", "constant");
  Ints pads = state.integers(node, 1, "pads");
  if (node.inputs.size() > 3 && !node.inputs[3].empty()) {  // of some axes
    const Ints axes = state.needed(node, 3, "axes").integers();
    check_as(Exit::Data, pads.size() == 2 * axes.size(), node.text(), ": pads of other axes");
    Ints all(2 * of.size(), 0);
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const std::size_t axis = axis_of(node, axes[i], of.size());
      all[axis] = pads[i], all[of.size() + axis] = pads[axes.size() + i];
    }
    pads = all;
  }
  check_as(Exit::Data, pads.size() == 2 * of.size(), node.text(), ": ", pads.size(), " pads of ", of.size(), " axes");
  const std::size_t first = state.in_samples() ? 1 : 0;
  check_as(Exit::Data, first == 0 || (pads[0] == 0 && pads[of.size()] == 0), node.text(),
           ": pads of the batch are not read");
  Ints sides;  // all before the axes, and then all after them
  Shape sample;
  for (const std::size_t side : {std::size_t{0}, of.size()})
    for (std::size_t axis = first; axis < of.size(); ++axis) {
      check_as(Exit::Data, pads[side + axis] > -kMostPads && pads[side + axis] < kMostPads, node.text(), ": a pad of ",
               pads[side + axis]);
      sides.push_back(pads[side + axis]);
    }
  for (std::size_t axis = first; axis < of.size(); ++axis)
    sample.push_back(of[axis] + pads[axis] + pads[of.size() + axis]);
  Json entry = {{"op", "pad"}, {"pads", sides}};
  if (mode != "constant") entry["mode"] = mode;
  double value = node.number("value", 0);
  if (node.inputs.size() > 2 && !node.inputs[2].empty()) {
    const auto given = state.constants.number(node.inputs[2]);
    check_as(Exit::Data, given.has_value(), node.text(), ": its value is no constant number");
    value = *given;
  }
  if (value != 0 && mode == "constant") entry["value"] = value;
  state.give_plain(node, entry, {state.plain(node, x)}, sample);
}

void import_pad(ImportState& state, const ReadNode& node) {
  const Ints pads = zeros_around(state, node);
  const bool is_image = pads.size() == 8 && std::ranges::min(pads) >= 0 && std::ranges::max(pads) < kMostPads &&
                        pads[0] == 0 && pads[4] == 0;
  if (!is_image || !state.in_samples()) return give_padded(state, node);
  const Plane x = plane_of(state, node);
  if (const std::int64_t more = channels_added(pads); more > 0)
    return give_plane(state, node, {{"op", "pad_channels"}, {"out", x.shape[0] + more}}, x, x.layer,
                      {x.shape[0] + more, x.shape[1], x.shape[2]});
  if (pads[1] != 0 || pads[5] != 0) return give_padded(state, node);
  give_plane(state, node, {{"op", "pad"}, {"pad", {pads[2], pads[3]}}, {"after", {pads[6], pads[7]}}}, x, x.layer,
             {x.shape[0], x.shape[1] + pads[2] + pads[6], x.shape[2] + pads[3] + pads[7]});
}

}  // namespace

bool import_thinning(ImportState& state, const ReadNode& node) {
  const View& x = state.value(node, 0);
  if (state.image_or_none(x).empty()) return false;
  const Shape of = state.stated(x.layer).shape;
  const auto integers = [&](std::size_t input) {
    const ReadTensor* const given = state.constant(node, input);
    return given ? given->integers() : Ints{};
  };
  const Ints ends = integers(2), steps = integers(4);
  if (integers(1) != Ints{0, 0} || integers(3) != Ints{2, 3} || ends.size() != 2 || steps.size() != 2) return false;
  if (ends[0] < of[1] || ends[1] < of[2] || std::ranges::min(steps) < 1) return false;
  const ReadNode* const after = state.only_reader(node.outputs.at(0));
  const std::int64_t more = after && after->type == "Pad" ? channels_added(zeros_around(state, *after)) : 0;
  const Shape shape = {of[0] + more, (of[1] - 1) / steps[0] + 1, (of[2] - 1) / steps[1] + 1};
  state.give_image(more > 0 ? *after : node, {{"op", "pad_channels"}, {"out", shape[0]}, {"stride", steps}}, x.layer,
                   shape);
  if (more > 0) state.take(*after);
  return true;
}

void add_image_imports(ImportTable& table) {
  table["BatchNormalization"] = import_batch_norm;
  table["LRN"] = import_lrn;
  table["SpaceToDepth"] = import_space_to_depth;
  table["DepthToSpace"] = import_depth_to_space;
  table["Pad"] = import_pad;
}

}  // namespace lethe::onnx
