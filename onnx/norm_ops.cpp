// Norms and softmax.
#include <limits>

#include "framework/error.h"
#include "onnx/op_table.h"

namespace lethe::onnx {
namespace {

/// x [N, C], an image, or [N, .., C], whose channels must stand second for ONNX.
void batch_norm(Emitter& e, const Op& op) {
  const VarId x = op.in[0];
  const Ints channels = {e.shape(x).back()};
  const auto operand = [&](std::size_t slot, double absent) {
    if (op.in.size() > slot && op.in[slot] != kNone) return e.value(op.in[slot]);
    return e.numbers(channels, std::vector<double>(static_cast<std::size_t>(channels[0]), absent));
  };
  check(op.in.size() < 6 || op.in[5] == kNone, "ONNX: a sum within a batch norm");
  const Attributes eps = {{"epsilon", static_cast<float>(op.attrs.number("eps"))}};
  const Names statistics = {operand(1, 1), operand(2, 0), operand(3, 0), operand(4, 1)};
  const auto with = [&](const std::string& input) {
    Names inputs = {input};
    inputs.insert(inputs.end(), statistics.begin(), statistics.end());
    return inputs;
  };
  if (e.is_image(x) || e.shape(x).size() == 2) return e.give(op.out[0], "BatchNormalization", with(e.value(x)), eps);
  const std::string rows = e.node("Reshape", {e.in_memory_order(x), e.integers({-1, channels[0]})});
  e.give_in_memory_order(op.out[0], "Reshape",
                         {e.node("BatchNormalization", with(rows), eps), e.shape_in_memory(op.out[0])});
}

void layer_norm(Emitter& e, const Op& op) {
  Names inputs = {e.in_memory_order(op.in[0]), e.value(op.in[1])};
  if (op.in.size() > 2 && op.in[2] != kNone) inputs.push_back(e.value(op.in[2]));
  e.give_in_memory_order(op.out[0], "LayerNormalization", inputs,
                         {{"axis", std::int64_t{-1}}, {"epsilon", static_cast<float>(op.attrs.number("eps"))}});
}

/// Each group as one channel of an instance norm, then each channel's own weight and bias.
void group_norm(Emitter& e, const Op& op) {
  const VarId x = op.in[0];
  check(e.is_image(x), "ONNX: group norm of what is no image");
  const std::int64_t groups = op.attrs.integer("groups");
  const auto each = [&](double value) {
    return e.numbers({groups}, std::vector<double>(static_cast<std::size_t>(groups), value));
  };
  const std::string value = e.value(x), rows = e.node("Reshape", {value, e.integers({0, groups, -1})});
  const std::string normed = e.node("InstanceNormalization", {rows, each(1), each(0)},
                                    {{"epsilon", static_cast<float>(op.attrs.number("eps"))}});
  std::string y = e.node("Reshape", {normed, e.node("Shape", {value})});
  const bool has_weight = op.in.size() > 1 && op.in[1] != kNone, has_bias = op.in.size() > 2 && op.in[2] != kNone;
  const auto of_channels = [&](std::size_t slot) {
    return e.node("Reshape", {e.value(op.in[slot]), e.integers({-1, 1, 1})});
  };
  if (has_weight) y = e.node("Mul", {y, of_channels(1)});
  if (has_bias) y = e.node("Add", {y, of_channels(2)});
  e.give_value(op.out[0], y);
}

/// y = x / sqrt(mean(x^2) + eps) (weight + offset)
void rms_norm(Emitter& e, const Op& op) {
  const std::string x = e.in_memory_order(op.in[0]);
  std::string weight = e.value(op.in[1]);
  if (const double offset = op.attrs.number("offset", 0); offset != 0)
    weight = e.node("Add", {weight, e.number(offset)});
  if (e.opset() >= 23)
    return e.give_in_memory_order(
        op.out[0], "RMSNormalization", {x, weight},
        {{"axis", std::int64_t{-1}}, {"epsilon", static_cast<float>(op.attrs.number("eps"))}});
  const std::string squares = e.node("Mul", {x, x});
  const std::string mean = e.opset() < 18 ? e.node("ReduceMean", {squares}, {{"axes", Ints{-1}}})
                                          : e.node("ReduceMean", {squares, e.integers({-1})});
  const std::string root = e.node("Sqrt", {e.node("Add", {mean, e.number(op.attrs.number("eps"))})});
  e.give_in_memory_order(op.out[0], "Mul", {e.node("Div", {x, root}), weight});
}

/// Along the last axis in memory. With `causal` row t of matrices [T, T] has columns 0 to t alone.
auto softmax(const char* type) {
  return [type](Emitter& e, const Op& op) {
    const VarId x = op.in[0];
    const std::int64_t length = e.shape(x).back();
    std::string value = e.value(x);
    if (op.attrs.flag("causal", false)) {
      check(!e.is_image(x), "ONNX: causal rows of an image");
      std::vector<double> mask;
      for (std::int64_t row = 0; row < length; ++row)
        for (std::int64_t column = 0; column < length; ++column)
          mask.push_back(column > row ? -std::numeric_limits<double>::infinity() : 0);
      value = e.node("Add", {value, e.numbers({length, length}, mask)});
    }
    e.give(op.out[0], type, {value}, {{"axis", e.axis(x, std::ssize(e.shape(x)) - 1)}});
  };
}

}  // namespace

void add_norm_ops(OpTable& table) {
  table["batch_norm_inference"] = batch_norm;
  table["group_norm"] = group_norm;
  table["layer_norm"] = layer_norm;
  table["rms_norm"] = rms_norm;
  table["softmax"] = softmax("Softmax");
  table["log_softmax"] = softmax("LogSoftmax");
}

}  // namespace lethe::onnx
