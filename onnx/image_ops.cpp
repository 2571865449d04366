// Convolutions, pools and what else is of images, in ONNX's layout [N, C, H, W].
#include <algorithm>

#include "framework/error.h"
#include "onnx/op_table.h"

namespace lethe::onnx {
namespace {

const Ints kFilters = {0, 3, 1, 2};  // [O, H, W, I] in memory, [O, I, H, W] in ONNX

void add_optional(Emitter& e, const Op& op, std::size_t slot, Names& inputs) {
  if (op.in.size() > slot && op.in[slot] != kNone) inputs.push_back(e.value(op.in[slot]));
}

/// The same before and after both axes.
Ints pads_of(const Ints& pad) { return {pad[0], pad[1], pad[0], pad[1]}; }

Attributes windows_of(const Op& op) {
  return {{"strides", op.attrs.ints("stride")},
          {"pads", pads_of(op.attrs.ints("pad"))},
          {"dilations", op.attrs.ints("dilation", {1, 1})},
          {"group", op.attrs.integer("groups", 1)}};
}

void conv2d(Emitter& e, const Op& op) {
  Names inputs = {e.value(op.in[0]), e.permuted(op.in[1], kFilters)};
  add_optional(e, op, 2, inputs);
  e.give(op.out[0], "Conv", inputs, windows_of(op));
}

void conv2d_transpose(Emitter& e, const Op& op) {
  Names inputs = {e.value(op.in[0]), e.permuted(op.in[1], kFilters)};
  add_optional(e, op, 2, inputs);
  Attributes attributes = windows_of(op);
  attributes.push_back({"output_padding", op.attrs.ints("output_padding", {0, 0})});
  e.give(op.out[0], "ConvTranspose", inputs, attributes);
}

/// Pads so that whole windows reach as far as those that are only partly there (ceil_mode): below opset 22 its meaning
/// differs from one program to another.
Ints pads_to_the_end(Emitter& e, const Op& op) {
  const Ints &k = op.attrs.ints("k"), &stride = op.attrs.ints("stride"), &pad = op.attrs.ints("pad");
  Ints pads = pads_of(pad);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t in = e.shape(op.in[0])[1 + i], out = e.shape(op.out[0])[1 + i];
    const std::int64_t reach = (k[i] - 1) * op.attrs.ints("dilation", {1, 1})[i] + 1;
    pads[2 + i] = std::max<std::int64_t>((out - 1) * stride[i] + reach - in - pad[i], 0);
  }
  return pads;
}

/// Those of a pool, which may differ from side to side.
Ints pads_of_pool(const Op& op) {
  Ints pads = pads_of(op.attrs.ints("pad"));
  const Ints after = op.attrs.ints("after", op.attrs.ints("pad"));
  pads[2] = after[0], pads[3] = after[1];
  return pads;
}

Attributes windows_of(const Op& op, const Ints& pads) {
  Attributes attributes = {{"kernel_shape", op.attrs.ints("k")}, {"strides", op.attrs.ints("stride")}, {"pads", pads}};
  if (op.attrs.has("dilation")) attributes.push_back({"dilations", op.attrs.ints("dilation")});
  return attributes;
}

void max_pool(Emitter& e, const Op& op) {
  const bool ceil = op.attrs.flag("ceil_mode", false);
  e.give(op.out[0], "MaxPool", {e.value(op.in[0])}, windows_of(op, ceil ? pads_to_the_end(e, op) : pads_of_pool(op)));
}

void avg_pool(Emitter& e, const Op& op) {
  const bool ceil = op.attrs.flag("ceil_mode", false), counts_pads = op.attrs.flag("count_include_pad", true);
  check(!op.attrs.has("dilation") || e.opset() >= 19, "ONNX: means of pixels that lie apart take `opset` 19");
  Attributes attributes = windows_of(op, ceil && !counts_pads ? pads_to_the_end(e, op) : pads_of_pool(op));
  attributes.push_back({"count_include_pad", std::int64_t{counts_pads}});
  // What lies after the padding counts nowhere, which an end of pads could not say.
  if (ceil && counts_pads) attributes.push_back({"ceil_mode", std::int64_t{1}});
  e.give(op.out[0], "AveragePool", {e.value(op.in[0])}, attributes);
}

void global_avg_pool(Emitter& e, const Op& op) {
  const std::string x = e.value(op.in[0]);
  if (e.opset() < 18)
    return e.give(op.out[0], "ReduceMean", {x}, {{"axes", Ints{2, 3}}, {"keepdims", std::int64_t{0}}});
  e.give(op.out[0], "ReduceMean", {x, e.integers({2, 3})}, {{"keepdims", std::int64_t{0}}});
}

void lrn(Emitter& e, const Op& op) {
  const std::int64_t size = op.attrs.integer("size");
  check(size % 2 == 1, "ONNX: lrn over ", size, " channels, expected an odd number");
  e.give(op.out[0], "LRN", {e.value(op.in[0])},
         {{"size", size},
          {"alpha", static_cast<float>(op.attrs.number("alpha"))},
          {"beta", static_cast<float>(op.attrs.number("beta"))},
          {"bias", static_cast<float>(op.attrs.number("k"))}});
}

/// Every so many pixels, and channels of zeros on either side.
void pad_channels(Emitter& e, const Op& op) {
  const Ints& stride = op.attrs.ints("stride");
  const std::int64_t more = op.attrs.integer("out") - e.shape(op.in[0])[3];
  std::string x = e.value(op.in[0]);
  if (stride != Ints{1, 1})
    x = e.node("Slice", {x, e.integers({0, 0}), e.integers({e.shape(op.in[0])[1], e.shape(op.in[0])[2]}),
                         e.integers({2, 3}), e.integers(stride)});
  e.give(op.out[0], "Pad", {x, e.integers({0, more / 2, 0, 0, 0, more - more / 2, 0, 0}), e.number(0)});
}

/// Sizes [N, C, H, W] of which the first two are those of x.
std::string sizes_like(Emitter& e, const std::string& x, const Ints& size) {
  const std::string first = e.node("Slice", {e.node("Shape", {x}), e.integers({0}), e.integers({2})});
  return e.node("Concat", {first, e.integers(size)}, {{"axis", std::int64_t{0}}});
}

void upsample(Emitter& e, const Op& op) {
  const bool linear = op.attrs.text("mode") == "bilinear";
  const char* const places = !linear                                 ? "asymmetric"
                             : op.attrs.flag("align_corners", false) ? "align_corners"
                                                                     : "half_pixel";
  Attributes attributes = {{"mode", std::string(linear ? "linear" : "nearest")},
                           {"coordinate_transformation_mode", std::string(places)}};
  if (!linear) attributes.push_back({"nearest_mode", std::string("floor")});
  const std::string x = e.value(op.in[0]);
  e.give(op.out[0], "Resize", {x, "", "", sizes_like(e, x, op.attrs.ints("size"))}, attributes);
}

void pixel_shuffle(Emitter& e, const Op& op) {
  e.give(op.out[0], "DepthToSpace", {e.value(op.in[0])},
         {{"blocksize", op.attrs.integer("r")}, {"mode", std::string("CRD")}});
}

/// Bytes to numbers: (x / 255 - mean) / deviation, by channel.
void normalize(Emitter& e, const Op& op) {
  const Doubles &mean = op.attrs.doubles("mean"), &deviation = op.attrs.doubles("deviation");
  const Ints by_channel = {std::ssize(mean), 1, 1};
  std::vector<double> offsets, scales;
  for (std::size_t c = 0; c < mean.size(); ++c) {
    offsets.push_back(255 * mean[c]);
    scales.push_back(1 / (255 * deviation[c]));
  }
  const std::string x = e.node("Cast", {e.value(op.in[0])}, {{"to", static_cast<std::int64_t>(e.type_of(op.out[0]))}});
  const std::string centred = e.node("Sub", {x, e.numbers(by_channel, offsets)});
  e.give(op.out[0], "Mul", {centred, e.numbers(by_channel, scales)});
}

}  // namespace

void add_image_ops(OpTable& table) {
  table["conv2d"] = conv2d;
  table["conv2d_transpose"] = conv2d_transpose;
  table["max_pool"] = table["max_pool_value"] = max_pool;
  table["avg_pool"] = avg_pool;
  table["global_avg_pool"] = global_avg_pool;
  table["lrn"] = lrn;
  table["pad_channels"] = pad_channels;
  table["upsample"] = upsample;
  table["pixel_shuffle"] = pixel_shuffle;
  table["normalize"] = normalize;
}

}  // namespace lethe::onnx
