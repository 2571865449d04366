// Convolutions and pools.
#include <algorithm>

#include "framework/error.h"
#include "onnx/import_plane.h"
#include "onnx/import_tables.h"

namespace lethe::onnx {
namespace {

/// Windows over height and width.
struct ReadWindows {
  Ints kernel, stride, dilation, before, after;  // pads
  bool ceil = false;

  ReadWindows(const ReadNode& node, const Ints& kernel, const Shape& image)
      : kernel(of_plane(kernel, 1)),
        stride(of_plane(node.integers("strides", {1, 1}), 1)),
        dilation(of_plane(node.integers("dilations", {1, 1}), 1)),
        ceil(node.integer("ceil_mode", 0) != 0) {
    Ints pads = node.integers("pads", {0, 0, 0, 0});
    if (pads.size() == 2) pads = {0, pads[0], 0, pads[1]};
    check_as(Exit::Data, this->kernel.size() == 2 && stride.size() == 2 && dilation.size() == 2 && pads.size() == 4,
             node.text(), ": windows are not of height and width");
    for (const Ints* const sizes : {&this->kernel, &stride, &dilation})
      for (const std::int64_t size : *sizes)
        check_as(Exit::Data, size >= 1 && size < 1 << 20, node.text(), ": a size of ", size);
    for (const std::int64_t pad : pads)
      check_as(Exit::Data, pad >= 0 && pad < kMostPads, node.text(), ": a pad of ", pad);
    before = {pads[0], pads[1]}, after = {pads[2], pads[3]};
    const std::string how = node.word("auto_pad", "NOTSET");
    if (how == "NOTSET" || how.empty()) return;
    check_as(Exit::Data, how == "VALID" || how.starts_with("SAME"), node.text(), ": auto_pad ", quote(how));
    for (std::size_t i = 0; i < 2; ++i) {
      const std::int64_t out = (image[1 + i] + stride[i] - 1) / stride[i],
                         all = how == "VALID"
                                   ? 0
                                   : std::max<std::int64_t>((out - 1) * stride[i] + reach(i) - image[1 + i], 0);
      before[i] = how == "SAME_LOWER" ? all - all / 2 : all / 2, after[i] = all - before[i];
    }
  }
  std::int64_t reach(std::size_t i) const { return (kernel[i] - 1) * dilation[i] + 1; }
  std::int64_t out(std::size_t i, std::int64_t in, bool up) const {
    const std::int64_t left = in + before[i] + after[i] - reach(i);
    if (left < 0) return 0;
    return (up ? (left + stride[i] - 1) / stride[i] : left / stride[i]) + 1;
  }
  Shape result(const ReadNode& node, std::int64_t channels, const Shape& image) const {
    Shape shape = {channels, out(0, image[1], ceil), out(1, image[2], ceil)};
    check_as(Exit::Data, shape[1] >= 1 && shape[2] >= 1, node.text(), ": leaves nothing of an image ", text_of(image));
    return shape;
  }
  bool is_symmetric() const { return before == after; }

 private:
  /// Those of a line are those of an image of one row.
  static Ints of_plane(const Ints& sizes, std::int64_t of_row) {
    return sizes.size() == 1 ? Ints{of_row, sizes[0]} : sizes;
  }
};

/// Images with the pads that no convolution of ours has, which are the same on both sides.
Plane padded(ImportState& state, const Plane& x, ReadWindows& windows, const std::string& name) {
  if (windows.is_symmetric()) return x;
  const Shape shape = {x.shape[0], x.shape[1] + windows.before[0] + windows.after[0],
                       x.shape[2] + windows.before[1] + windows.after[1]};
  const std::string made = state.add(name + ".pad", {{"op", "pad"}, {"pad", windows.before}, {"after", windows.after}},
                                     {x.layer}, {shape, true});
  windows.before = windows.after = {0, 0};
  return {made, shape, x.is_line};
}

bool has_bias(const ReadNode& node) { return node.inputs.size() > 2 && !node.inputs[2].empty(); }

/// Weight and bias of a convolution.
void add_filters(ImportState& state, const ReadNode& node, const std::string& name, std::int64_t filters) {
  const ReadTensor& weight = state.needed(node, 1, "weight");
  Shape shape = weight.shape;
  if (shape.size() == 3) shape.insert(shape.begin() + 2, 1);
  state.add_weight(name + ".weight", shape, weight.floats(), node.inputs[1]);
  if (!has_bias(node)) return;
  const ReadTensor& bias = state.needed(node, 2, "bias");
  check_as(Exit::Data, bias.shape == Shape{filters}, node.text(), ": its bias is ", text_of(bias.shape));
  state.add_weight(name + ".bias", bias.shape, bias.floats(), node.inputs[2]);
}

void import_conv(ImportState& state, const ReadNode& node) {
  const Plane image = plane_of(state, node);
  const ReadTensor& weight = state.needed(node, 1, "weight");
  check_as(Exit::Data, weight.shape.size() == (image.is_line ? 3 : 4), node.text(), ": its weight is ",
           text_of(weight.shape), ", expected [filters,channels,height,width]");
  ReadWindows windows(node, Ints(weight.shape.begin() + 2, weight.shape.end()), image.shape);
  const std::int64_t filters = weight.shape[0];
  const std::string name = state.name_of(node);
  const Shape shape = windows.result(node, filters, image.shape);
  const Plane x = padded(state, image, windows, name);
  give_plane(state, node,
             {{"op", "conv"},
              {"name", name},
              {"out", filters},
              {"k", windows.kernel},
              {"stride", windows.stride},
              {"pad", windows.before},
              {"dilation", windows.dilation},
              {"groups", node.integer("group", 1)},
              {"bias", has_bias(node)}},
             x, x.layer, shape);
  add_filters(state, node, name, filters);
}

void import_conv_transpose(ImportState& state, const ReadNode& node) {
  const Plane x = plane_of(state, node);
  const ReadTensor& weight = state.needed(node, 1, "weight");
  check_as(Exit::Data,
           weight.shape.size() == 4 && !x.is_line && !node.has("output_shape") &&
               node.word("auto_pad", "NOTSET") == "NOTSET",
           node.text(), ": is of a form that is not read");
  const ReadWindows windows(node, {weight.shape[2], weight.shape[3]}, x.shape);
  check_as(Exit::Data, windows.is_symmetric(), node.text(), ": pads differ from side to side");
  const Ints more = node.integers("output_padding", {0, 0});
  const std::int64_t groups = node.integer("group", 1);
  check_as(Exit::Data,
           more.size() == 2 && std::ranges::min(more) >= 0 && std::ranges::max(more) < kMostPads && groups >= 1 &&
               groups < kMostPads,
           node.text(), ": is of a form that is not read");
  const std::int64_t filters = weight.shape[1] * groups;
  Shape shape = {filters};
  for (std::size_t i = 0; i < 2; ++i)
    shape.push_back((x.shape[1 + i] - 1) * windows.stride[i] - 2 * windows.before[i] + windows.reach(i) + more.at(i));
  const std::string name = state.name_of(node);
  give_plane(state, node,
             {{"op", "conv_transpose"},
              {"name", name},
              {"out", filters},
              {"k", windows.kernel},
              {"stride", windows.stride},
              {"pad", windows.before},
              {"output_padding", more},
              {"dilation", windows.dilation},
              {"groups", groups},
              {"bias", has_bias(node)}},
             x, x.layer, shape);
  add_filters(state, node, name, filters);
}

/// Pads at the end alone may say what `ceil` does: a last window that reaches over the edge.
void pool(ImportState& state, const ReadNode& node, const char* op, bool counts_pads) {
  const Plane x = plane_of(state, node);
  ReadWindows windows(node, node.integers("kernel_shape", {}), x.shape);
  const bool has_index = node.outputs.size() > 1 && state.is_read(node.outputs[1]);
  check_as(Exit::Data, !has_index && node.integer("storage_order", 0) == 0, node.text(),
           ": where the largest stands is not read");
  const Shape shape = windows.result(node, x.shape[0], x.shape);
  Json entry = {{"op", op}, {"k", windows.kernel}, {"stride", windows.stride}, {"pad", windows.before}};
  if (windows.dilation != Ints{1, 1}) entry["dilation"] = windows.dilation;
  if (!windows.is_symmetric()) {
    ReadWindows up = windows;
    up.after = up.before;
    const bool same =
        !counts_pads && up.out(0, x.shape[1], true) == shape[1] && up.out(1, x.shape[2], true) == shape[2];
    if (same)
      windows.ceil = true;
    else
      entry["after"] = windows.after;
  }
  if (windows.ceil) entry["ceil"] = true;
  if (std::string(op) == "avg_pool") entry["count_include_pad"] = counts_pads;
  give_plane(state, node, entry, x, x.layer, shape);
}
void import_max_pool(ImportState& state, const ReadNode& node) { pool(state, node, "max_pool", false); }

/// The mean of each channel.
void give_global_mean(ImportState& state, const ReadNode& node, bool keeps_axes) {
  const Plane x = plane_of(state, node);
  View made{state.add("", {{"op", "global_avg_pool"}, {"name", state.name_of(node)}}, {x.layer}, {{x.shape[0]}}),
            {x.shape[0]},
            {{kBatchAxis}, {0}}};
  if (keeps_axes) made.axes.resize(x.is_line ? 3 : 4);
  state.give(node, made);
}

void import_avg_pool(ImportState& state, const ReadNode& node) {
  const Plane x = plane_of(state, node);
  const ReadWindows windows(node, node.integers("kernel_shape", {}), x.shape);
  // Without pads it does not matter whether they count.
  const bool any = windows.before != Ints{0, 0} || windows.after != Ints{0, 0};
  const bool counts = any && node.integer("count_include_pad", 0) != 0;
  const bool is_whole = windows.result(node, 1, x.shape) == Shape{1, 1, 1} && windows.before == Ints{0, 0} &&
                        windows.dilation == Ints{1, 1} && windows.kernel[0] >= x.shape[1] &&
                        windows.kernel[1] >= x.shape[2];
  if (is_whole && !counts) return give_global_mean(state, node, true);
  pool(state, node, "avg_pool", counts);
}

void import_global_avg_pool(ImportState& state, const ReadNode& node) { give_global_mean(state, node, true); }

}  // namespace

Plane plane_of(ImportState& state, const ReadNode& node) {
  View view = state.value(node, 0);
  const bool is_line = view.axes.size() == 3;
  if (is_line) view = with_one(view, 2);
  const std::string layer = state.image(node, view);
  return {layer, state.stated(layer).shape, is_line};
}

void give_plane(ImportState& state, const ReadNode& node, Json entry, const Plane& of, const std::string& in,
                const Shape& shape) {
  check_as(Exit::Data, !of.is_line || shape[1] == 1, node.text(), ": windows of an image over a line");
  state.give_image(node, std::move(entry), in, shape);
  if (of.is_line) state.give(node, without_one(simplified(state.made(node.outputs[0])), 2));
}

void add_window_imports(ImportTable& table) {
  table["Conv"] = import_conv;
  table["ConvTranspose"] = import_conv_transpose;
  table["MaxPool"] = import_max_pool;
  table["AveragePool"] = import_avg_pool;
  table["GlobalAveragePool"] = import_global_avg_pool;
}

}  // namespace lethe::onnx
