// Convolutions, pools and norms of images.
#include <algorithm>
#include <charconv>

#include "framework/error.h"
#include "onnx/import_numbers.h"
#include "onnx/import_state.h"

namespace lethe::onnx {
namespace {

constexpr std::int64_t kMostPads = 1 << 20;

/// Windows over height and width.
struct ReadWindows {
  Ints kernel, stride, dilation, before, after;  // pads
  bool ceil = false;

  ReadWindows(const ReadNode& node, const Ints& kernel, const Shape& image)
      : kernel(kernel),
        stride(node.integers("strides", {1, 1})),
        dilation(node.integers("dilations", {1, 1})),
        ceil(node.integer("ceil_mode", 0) != 0) {
    const Ints pads = node.integers("pads", {0, 0, 0, 0});
    check_as(Exit::Data, kernel.size() == 2 && stride.size() == 2 && dilation.size() == 2 && pads.size() == 4,
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
};

/// Images with the pads that no convolution of ours has, which are the same on both sides.
LayerValue padded(ImportState& state, const LayerValue& x, ReadWindows& windows, const std::string& name) {
  if (windows.is_symmetric()) return x;
  const Shape shape = {x.shape[0], x.shape[1] + windows.before[0] + windows.after[0],
                       x.shape[2] + windows.before[1] + windows.after[1]};
  const LayerValue made =
      state.add(name + ".pad", {{"op", "pad"}, {"pad", windows.before}, {"after", windows.after}}, {x}, shape);
  windows.before = windows.after = {0, 0};
  return made;
}

bool has_bias(const ReadNode& node) { return node.inputs.size() > 2 && !node.inputs[2].empty(); }

/// Weight and bias of a convolution.
void add_filters(ImportState& state, const ReadNode& node, const std::string& name, std::int64_t filters) {
  const ReadTensor& weight = state.needed(node, 1, "weight");
  state.add_weight(name + ".weight", weight.shape, weight.floats());
  if (!has_bias(node)) return;
  const ReadTensor& bias = state.needed(node, 2, "bias");
  check_as(Exit::Data, bias.shape == Shape{filters}, node.text(), ": its bias is ", text_of(bias.shape));
  state.add_weight(name + ".bias", bias.shape, bias.floats());
}

void import_conv(ImportState& state, const ReadNode& node) {
  const LayerValue image = state.image(node, 0);
  const ReadTensor& weight = state.needed(node, 1, "weight");
  check_as(Exit::Data, weight.shape.size() == 4, node.text(), ": its weight is ", text_of(weight.shape),
           ", expected [filters,channels,height,width]");
  ReadWindows windows(node, {weight.shape[2], weight.shape[3]}, image.shape);
  const std::int64_t filters = weight.shape[0];
  const std::string name = state.name_of(node);
  const Shape shape = windows.result(node, filters, image.shape);
  const LayerValue x = padded(state, image, windows, name);
  state.give(node,
             {{"op", "conv"},
              {"name", name},
              {"out", filters},
              {"k", windows.kernel},
              {"stride", windows.stride},
              {"pad", windows.before},
              {"dilation", windows.dilation},
              {"groups", node.integer("group", 1)},
              {"bias", has_bias(node)}},
             {x}, shape);
  add_filters(state, node, name, filters);
}

void import_conv_transpose(ImportState& state, const ReadNode& node) {
  const LayerValue x = state.image(node, 0);
  const ReadTensor& weight = state.needed(node, 1, "weight");
  check_as(Exit::Data, weight.shape.size() == 4 && !node.has("output_shape") && !node.has("auto_pad"), node.text(),
           ": is of a form that is not read");
  const ReadWindows windows(node, {weight.shape[2], weight.shape[3]}, x.shape);
  check_as(Exit::Data, windows.is_symmetric(), node.text(), ": pads differ from side to side");
  const Ints more = node.integers("output_padding", {0, 0});
  const std::int64_t groups = node.integer("group", 1);
  check_as(Exit::Data, more.size() == 2 && groups >= 1 && groups < kMostPads, node.text(),
           ": is of a form that is not read");
  const std::int64_t filters = weight.shape[1] * groups;
  Shape shape = {filters};
  for (std::size_t i = 0; i < 2; ++i)
    shape.push_back((x.shape[1 + i] - 1) * windows.stride[i] - 2 * windows.before[i] + windows.reach(i) + more.at(i));
  const std::string name = state.name_of(node);
  state.give(node,
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
             {x}, shape);
  add_filters(state, node, name, filters);
}

/// Pads at the end alone may say what `ceil` does: a last window that reaches over the edge.
void pool(ImportState& state, const ReadNode& node, const char* op, bool counts_pads) {
  const LayerValue x = state.image(node, 0);
  ReadWindows windows(node, node.integers("kernel_shape", {}), x.shape);
  check_as(Exit::Data, windows.dilation == Ints{1, 1} && node.outputs.size() == 1, node.text(),
           ": pools with dilations or indices are not read");
  const Shape shape = windows.result(node, x.shape[0], x.shape);
  Json entry = {{"op", op}, {"k", windows.kernel}, {"stride", windows.stride}, {"pad", windows.before}};
  if (!windows.is_symmetric()) {
    windows.after = windows.before;
    const bool same = windows.out(0, x.shape[1], true) == shape[1] && windows.out(1, x.shape[2], true) == shape[2];
    check_as(Exit::Data, same && !counts_pads, node.text(), ": pads at the end that no window of ours has");
    windows.ceil = true;
  }
  if (windows.ceil) entry["ceil"] = true;
  if (std::string(op) == "avg_pool") entry["count_include_pad"] = counts_pads;
  state.give(node, entry, {x}, shape);
}
void import_max_pool(ImportState& state, const ReadNode& node) { pool(state, node, "max_pool", false); }
void import_avg_pool(ImportState& state, const ReadNode& node) {
  const LayerValue x = state.image(node, 0);
  const ReadWindows windows(node, node.integers("kernel_shape", {}), x.shape);
  // Without pads it does not matter whether they count.
  const bool any = windows.before != Ints{0, 0} || windows.after != Ints{0, 0};
  const bool counts = any && node.integer("count_include_pad", 0) != 0;
  const bool is_whole = windows.result(node, 1, x.shape) == Shape{1, 1, 1} && windows.before == Ints{0, 0} &&
                        windows.kernel[0] >= x.shape[1] && windows.kernel[1] >= x.shape[2];
  if (is_whole && !counts) return state.give(node, {{"op", "global_avg_pool"}}, {x}, {x.shape[0]}, 2);
  pool(state, node, "avg_pool", counts);
}

void import_global_avg_pool(ImportState& state, const ReadNode& node) {
  const LayerValue x = state.image(node, 0);
  state.give(node, {{"op", "global_avg_pool"}}, {x}, {x.shape[0]}, 2);
}

void import_reduce_mean(ImportState& state, const ReadNode& node) {
  const LayerValue x = state.image(node, 0);
  const ReadTensor* const given = state.optional_constant(node, 1);
  const Ints axes = given ? given->integers() : node.integers("axes", {});
  check_as(Exit::Data, axes == Ints{2, 3} || axes == Ints{-2, -1} || axes == Ints{-1, -2}, node.text(),
           ": means but of height and width are not read");
  state.give(node, {{"op", "global_avg_pool"}}, {x}, {x.shape[0]}, node.integer("keepdims", 1) != 0 ? 2 : 0);
}

void import_batch_norm(ImportState& state, const ReadNode& node) {
  const LayerValue x = state.value(node, 0);
  check_as(Exit::Data,
           node.integer("training_mode", 0) == 0 && node.integer("is_test", 1) == 1 && node.integer("spatial", 1) == 1,
           node.text(), ": is of a form that is not read");
  check_as(Exit::Data, x.shape.size() != 2, node.text(), ": of sequences is not read");
  const std::string name = state.name_of(node);
  // ONNX's momentum is what the old statistics keep.
  state.give(node,
             {{"op", "bn"},
              {"name", name},
              {"momentum", as_written(static_cast<float>(1 - as_written(node.number("momentum", 0.9F))))},
              {"eps", as_written(node.number("epsilon", 1e-5F))}},
             {x}, x.shape, x.ones);
  const char* const names[] = {".weight", ".bias", ".running_mean", ".running_var"};
  for (std::size_t i = 0; i < 4; ++i) {
    const ReadTensor& tensor = state.needed(node, 1 + i, "statistic");
    check_as(Exit::Data, tensor.shape == Shape{x.shape[0]}, node.text(), ": a tensor of ", text_of(tensor.shape));
    state.add_weight(name + names[i], tensor.shape, tensor.floats());
  }
}

void import_lrn(ImportState& state, const ReadNode& node) {
  const LayerValue x = state.image(node, 0);
  check_as(Exit::Data, node.integer("size", 1) % 2 == 1, node.text(), ": over an even number of channels is not read");
  state.give(node,
             {{"op", "lrn"},
              {"size", node.integer("size", 1)},
              {"alpha", as_written(node.number("alpha", 1e-4F))},
              {"beta", as_written(node.number("beta", 0.75F))},
              {"k", as_written(node.number("bias", 1))}},
             {x}, x.shape);
}

void import_depth_to_space(ImportState& state, const ReadNode& node) {
  const LayerValue x = state.image(node, 0);
  const std::int64_t r = node.integer("blocksize", 1);
  check_as(Exit::Data, node.word("mode", "DCR") == "CRD" && r >= 1 && r < 1024, node.text(),
           ": mode but CRD is not read");
  check_as(Exit::Data, x.shape[0] % (r * r) == 0, node.text(), ": of ", x.shape[0], " channels");
  state.give(node, {{"op", "pixel_shuffle"}, {"r", r}}, {x}, {x.shape[0] / (r * r), x.shape[1] * r, x.shape[2] * r});
}

/// Pads of all axes, before them and after them; none where they are not zeros.
Ints zeros_around(const ImportState& state, const ReadNode& node) {
  const ReadTensor* const given = state.optional_constant(node, 1);
  const ReadTensor* const value = state.optional_constant(node, 2);
  const bool is_zero = value ? value->floats() == std::vector<float>{0} : node.number("value", 0) == 0;
  if (!is_zero || node.word("mode", "constant") != "constant" || node.inputs.size() > 3) return {};
  return given ? given->integers() : node.integers("pads", {});
}

/// How many channels of zeros these pads add to an image, half of them in front; 0 if they do something else.
std::int64_t channels_added(const Ints& pads) {
  const bool fits = pads.size() == 8 && pads[1] >= 0 && pads[5] >= 0 && pads[1] < kMostPads && pads[5] < kMostPads;
  const std::int64_t more = fits ? pads[1] + pads[5] : 0;
  return more > 0 && pads == Ints{0, more / 2, 0, 0, 0, more - more / 2, 0, 0} ? more : 0;
}

void import_pad(ImportState& state, const ReadNode& node) {
  const LayerValue x = state.image(node, 0);
  const Ints pads = zeros_around(state, node);
  if (const std::int64_t more = channels_added(pads); more > 0)
    return state.give(node, {{"op", "pad_channels"}, {"out", x.shape[0] + more}}, {x},
                      {x.shape[0] + more, x.shape[1], x.shape[2]});
  const bool is_image = pads.size() == 8 && pads[0] == 0 && pads[1] == 0 && pads[4] == 0 && pads[5] == 0 &&
                        std::ranges::min(pads) >= 0 && std::ranges::max(pads) < kMostPads;
  check_as(Exit::Data, is_image, node.text(), ": pads but zeros around an image are not read");
  state.give(node, {{"op", "pad"}, {"pad", {pads[2], pads[3]}}, {"after", {pads[6], pads[7]}}}, {x},
             {x.shape[0], x.shape[1] + pads[2] + pads[6], x.shape[2] + pads[3] + pads[7]});
}

}  // namespace

bool import_thinning(ImportState& state, const ReadNode& node) {
  const LayerValue x = state.value(node, 0);
  const auto integers = [&](std::size_t input) {
    const ReadTensor* const given = state.constant(node, input);
    return given ? given->integers() : Ints{};
  };
  const Ints ends = integers(2), steps = integers(4);
  if (x.shape.size() != 3 || integers(1) != Ints{0, 0} || integers(3) != Ints{2, 3} || ends.size() != 2 ||
      steps.size() != 2)
    return false;
  if (ends[0] < x.shape[1] || ends[1] < x.shape[2] || std::ranges::min(steps) < 1) return false;
  const ReadNode* const after = state.only_reader(node.outputs.at(0));
  const std::int64_t more = after && after->type == "Pad" ? channels_added(zeros_around(state, *after)) : 0;
  const Shape shape = {x.shape[0] + more, (x.shape[1] - 1) / steps[0] + 1, (x.shape[2] - 1) / steps[1] + 1};
  state.give(more > 0 ? *after : node, {{"op", "pad_channels"}, {"out", shape[0]}, {"stride", steps}}, {x}, shape);
  if (more > 0) state.take(*after);
  return true;
}

void add_image_imports(ImportTable& table) {
  table["Conv"] = import_conv;
  table["ConvTranspose"] = import_conv_transpose;
  table["MaxPool"] = import_max_pool;
  table["AveragePool"] = import_avg_pool;
  table["GlobalAveragePool"] = import_global_avg_pool;
  table["ReduceMean"] = import_reduce_mean;
  table["BatchNormalization"] = import_batch_norm;
  table["LRN"] = import_lrn;
  table["DepthToSpace"] = import_depth_to_space;
  table["Pad"] = import_pad;
}

}  // namespace lethe::onnx
