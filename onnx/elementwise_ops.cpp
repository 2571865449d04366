// Ops of each element by itself, and of pairs.
#include <cmath>

#include "framework/error.h"
#include "onnx/op_table.h"

namespace lethe::onnx {
namespace {

/// y = Type(x)
auto unary(const char* type) {
  return [type](Emitter& e, const Op& op) { e.give(op.out[0], type, {e.value(op.in[0])}); };
}

/// y = Type(a, b), b broadcast
auto binary(const char* type) {
  return [type](Emitter& e, const Op& op) {
    e.give(op.out[0], type, {e.value(op.in[0]), e.in_axes_of(op.in[0], op.in[1])});
  };
}

/// Truth values of a and b, or of a and the number `value`.
auto comparison(const char* type) {
  return [type](Emitter& e, const Op& op) {
    const VarId a = op.in[0];
    const bool is_whole = e.type_of(a) == Type::i32 || e.type_of(a) == Type::i64;
    const auto number = [&] {
      const double value = op.attrs.number("value");
      return is_whole ? e.integer_like(a, static_cast<std::int64_t>(value)) : e.number(value);
    };
    const std::string b = op.in.size() > 1 && op.in[1] != kNone ? e.in_axes_of(a, op.in[1]) : number();
    e.give(op.out[0], "Cast", {e.node(type, {e.value(a), b})}, {{"to", static_cast<std::int64_t>(Type::u8)}});
  };
}

void gelu(Emitter& e, const Op& op) {
  const std::string x = e.value(op.in[0]);
  const bool by_tanh = op.attrs.has("approximate") && op.attrs.text("approximate") == "tanh";
  if (e.opset() >= 20) return e.give(op.out[0], "Gelu", {x}, {{"approximate", std::string(by_tanh ? "tanh" : "none")}});
  const double pi = std::acos(-1.0);
  std::string inner;
  if (by_tanh) {
    const std::string cube = e.node("Mul", {e.node("Mul", {x, x}), x});
    const std::string sum = e.node("Add", {x, e.node("Mul", {cube, e.number(0.044715)})});
    inner = e.node("Tanh", {e.node("Mul", {sum, e.number(std::sqrt(2 / pi))})});
  } else {
    inner = e.node("Erf", {e.node("Mul", {x, e.number(std::sqrt(0.5))})});
  }
  const std::string half = e.node("Mul", {x, e.number(0.5)});
  e.give(op.out[0], "Mul", {half, e.node("Add", {inner, e.number(1)})});
}

void silu(Emitter& e, const Op& op) {
  const std::string x = e.value(op.in[0]);
  const double alpha = op.attrs.number("alpha", 1);
  e.give(op.out[0], "Mul", {x, e.node("Sigmoid", {alpha == 1 ? x : e.node("Mul", {x, e.number(alpha)})})});
}

void mish(Emitter& e, const Op& op) {
  const std::string x = e.value(op.in[0]);
  if (e.opset() >= 18) return e.give(op.out[0], "Mish", {x});
  e.give(op.out[0], "Mul", {x, e.node("Tanh", {e.node("Softplus", {x})})});
}

/// scale * x, or scale * alpha * (e^(input_scale x) - 1) below 0: Elu, Celu and Selu are of this form.
void elu(Emitter& e, const Op& op) {
  const auto alpha = static_cast<float>(op.attrs.number("alpha"));
  const double scale = op.attrs.number("scale", 1), input_scale = op.attrs.number("input_scale", 1);
  const Names x = {e.value(op.in[0])};
  if (input_scale != 1) return e.give(op.out[0], "Celu", x, {{"alpha", static_cast<float>(1 / input_scale)}});
  if (scale != 1) return e.give(op.out[0], "Selu", x, {{"alpha", alpha}, {"gamma", static_cast<float>(scale)}});
  e.give(op.out[0], "Elu", x, {{"alpha", alpha}});
}

/// With two numbers that are attributes in both.
auto with_numbers(const char* type, const char* first, const char* second) {
  return [=](Emitter& e, const Op& op) {
    e.give(
        op.out[0], type, {e.value(op.in[0])},
        {{first, static_cast<float>(op.attrs.number(first))}, {second, static_cast<float>(op.attrs.number(second))}});
  };
}

void power(Emitter& e, const Op& op) {
  const std::string exponent =
      op.attrs.has("exponent") ? e.number(op.attrs.number("exponent")) : e.in_axes_of(op.in[0], op.in[1]);
  e.give(op.out[0], "Pow", {e.value(op.in[0]), exponent});
}

void remainder(Emitter& e, const Op& op) {
  e.give(op.out[0], "Mod", {e.value(op.in[0]), e.in_axes_of(op.in[0], op.in[1])}, {{"fmod", std::int64_t{1}}});
}

/// A slope of each channel, or one of all.
void prelu(Emitter& e, const Op& op) {
  const VarId x = op.in[0];
  std::string slope = e.value(op.in[1]);
  if (e.is_image(x) && e.shape(op.in[1])[0] > 1) slope = e.node("Reshape", {slope, e.integers({-1, 1, 1})});
  e.give(op.out[0], "PRelu", {e.value(x), slope});
}

void where(Emitter& e, const Op& op) {
  check(op.in.size() == 3 && op.in[1] != kNone && op.in[2] != kNone, "ONNX: a choice without one of its values");
  const std::string is_true =
      e.node("Cast", {e.in_axes_of(op.out[0], op.in[0])}, {{"to", static_cast<std::int64_t>(Type::boolean)}});
  e.give(op.out[0], "Where", {is_true, e.in_axes_of(op.out[0], op.in[1]), e.in_axes_of(op.out[0], op.in[2])});
}

void square(Emitter& e, const Op& op) { e.give(op.out[0], "Mul", {e.value(op.in[0]), e.value(op.in[0])}); }

void leaky_relu(Emitter& e, const Op& op) {
  e.give(op.out[0], "LeakyRelu", {e.value(op.in[0])}, {{"alpha", static_cast<float>(op.attrs.number("slope"))}});
}

void clip(Emitter& e, const Op& op) {
  const auto bound = [&](const char* name) { return op.attrs.has(name) ? e.number(op.attrs.number(name)) : ""; };
  e.give(op.out[0], "Clip", {e.value(op.in[0]), bound("min"), bound("max")});
}

/// y = a x + b
void scale(Emitter& e, const Op& op) {
  const std::string product = e.node("Mul", {e.value(op.in[0]), e.number(op.attrs.number("a"))});
  e.give(op.out[0], "Add", {product, e.number(op.attrs.number("b"))});
}

void offset(Emitter& e, const Op& op) {
  const VarId x = op.in[0];
  const bool is_whole = e.type_of(x) == Type::i32 || e.type_of(x) == Type::i64;
  const double by = op.attrs.number("by");
  e.give(op.out[0], "Add", {e.value(x), is_whole ? e.integer_like(x, static_cast<std::int64_t>(by)) : e.number(by)});
}

/// x where it is above the threshold, else the value; NaN is not below.
void threshold(Emitter& e, const Op& op) {
  const std::string x = e.value(op.in[0]);
  const std::string is_low = e.node("LessOrEqual", {x, e.number(op.attrs.number("threshold"))});
  e.give(op.out[0], "Where", {is_low, e.number(op.attrs.number("value")), x});
}

void cast(Emitter& e, const Op& op) {
  e.give(op.out[0], "Cast", {e.value(op.in[0])}, {{"to", static_cast<std::int64_t>(e.type_of(op.out[0]))}});
}

void identity(Emitter& e, const Op& op) { e.give_value(op.out[0], e.value(op.in[0])); }

}  // namespace

void add_elementwise_ops(OpTable& table) {
  for (const auto& [ours, theirs] : std::initializer_list<std::pair<const char*, const char*>>{
           {"relu", "Relu"},         {"sigmoid", "Sigmoid"},
           {"tanh", "Tanh"},         {"exp", "Exp"},
           {"log", "Log"},           {"sqrt", "Sqrt"},
           {"abs", "Abs"},           {"softplus", "Softplus"},
           {"erf", "Erf"},           {"hard_swish", "HardSwish"},
           {"softsign", "Softsign"}, {"reciprocal", "Reciprocal"},
           {"sign", "Sign"},         {"floor", "Floor"},
           {"ceil", "Ceil"},         {"round", "Round"},
           {"sin", "Sin"},           {"cos", "Cos"},
           {"tan", "Tan"},           {"asin", "Asin"},
           {"acos", "Acos"},         {"atan", "Atan"},
           {"sinh", "Sinh"},         {"cosh", "Cosh"},
           {"asinh", "Asinh"},       {"acosh", "Acosh"},
           {"atanh", "Atanh"}})
    table[ours] = unary(theirs);
  for (const auto& [ours, theirs] : std::initializer_list<std::pair<const char*, const char*>>{
           {"add", "Add"}, {"sub", "Sub"}, {"mul", "Mul"}, {"div", "Div"}, {"max", "Max"}, {"min", "Min"}})
    table[ours] = binary(theirs);
  for (const auto& [ours, theirs] : std::initializer_list<std::pair<const char*, const char*>>{
           {"greater", "Greater"}, {"less", "Less"}, {"equal", "Equal"}})
    table[ours] = comparison(theirs);
  table["gelu"] = gelu;
  table["silu"] = silu;
  table["mish"] = mish;
  table["elu"] = elu;
  table["hard_sigmoid"] = with_numbers("HardSigmoid", "alpha", "beta");
  table["shrink"] = with_numbers("Shrink", "bias", "lambd");
  table["pow"] = power;
  table["mod"] = remainder;
  table["prelu"] = prelu;
  table["where"] = where;
  table["square"] = square;
  table["leaky_relu"] = leaky_relu;
  table["clip"] = clip;
  table["scale"] = scale;
  table["offset"] = offset;
  table["threshold"] = threshold;
  table["cast"] = cast;
  table["assign"] = identity;
}

}  // namespace lethe::onnx
