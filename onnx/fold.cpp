#include "onnx/fold.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "framework/error.h"
#include "onnx/bytes.h"
#include "onnx/fold_node.h"

namespace lethe::onnx {
namespace {

using Pair = double (*)(double, double);
using Single = double (*)(double);

const std::map<std::string, Pair>& pairs() {
  static const std::map<std::string, Pair> all = {
      {"Add", [](double a, double b) { return a + b; }},
      {"Mod", [](double a, double b) { return a - b * std::floor(a / b); }},
      {"Sub", [](double a, double b) { return a - b; }},
      {"Mul", [](double a, double b) { return a * b; }},
      {"Div", [](double a, double b) { return a / b; }},
      {"Pow", [](double a, double b) { return std::pow(a, b); }},
      {"Min", [](double a, double b) { return std::min(a, b); }},
      {"Max", [](double a, double b) { return std::max(a, b); }},
      {"Equal", [](double a, double b) { return double(a == b); }},
      {"Less", [](double a, double b) { return double(a < b); }},
      {"LessOrEqual", [](double a, double b) { return double(a <= b); }},
      {"Greater", [](double a, double b) { return double(a > b); }},
      {"GreaterOrEqual", [](double a, double b) { return double(a >= b); }},
      {"And", [](double a, double b) { return double(a != 0 && b != 0); }},
      {"Or", [](double a, double b) { return double(a != 0 || b != 0); }},
      {"Xor", [](double a, double b) { return double((a != 0) != (b != 0)); }}};
  return all;
}

const std::map<std::string, Single>& singles() {
  static const std::map<std::string, Single> all = {{"Neg", [](double x) { return -x; }},
                                                    {"Abs", [](double x) { return std::fabs(x); }},
                                                    {"Sqrt", [](double x) { return std::sqrt(x); }},
                                                    {"Exp", [](double x) { return std::exp(x); }},
                                                    {"Log", [](double x) { return std::log(x); }},
                                                    {"Sin", [](double x) { return std::sin(x); }},
                                                    {"Cos", [](double x) { return std::cos(x); }},
                                                    {"Floor", [](double x) { return std::floor(x); }},
                                                    {"Ceil", [](double x) { return std::ceil(x); }},
                                                    {"Reciprocal", [](double x) { return 1 / x; }},
                                                    {"IsNaN", [](double x) { return double(std::isnan(x)); }},
                                                    {"Not", [](double x) { return double(x == 0); }}};
  return all;
}

bool gives_truth(const std::string& type) {
  static const std::set<std::string> all = {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual",
                                            "And",   "Or",   "Xor",         "IsNaN",   "Not"};
  return all.contains(type);
}

ReadTensor fold_pair(const Folding& f) {
  Array made = Array::of(f.x());
  const bool of_c = f.node.type == "Mod" && f.node.integer("fmod", 0) != 0;  // with the sign of the first
  const bool divides_whole = f.node.type == "Div" && f.x().is_integer();
  for (std::size_t i = 1; i < f.in.size(); ++i) {
    f.check_size(broadcast_shape(made.shape, f.x(i).shape), sizeof(double));
    made = of_c ? pairwise(made, Array::of(f.x(i)), [](double a, double b) { return std::fmod(a, b); })
                : pairwise(made, Array::of(f.x(i)), pairs().at(f.node.type));
    for (const double number : divides_whole ? made.numbers : std::vector<double>{})
      check_as(Exit::Data, std::isfinite(number), f.node.text(), ": divides by 0");
  }
  return made.as(gives_truth(f.node.type) ? Type::boolean : f.x().type);
}

ReadTensor fold_single(const Folding& f) {
  return each(Array::of(f.x()), singles().at(f.node.type)).as(gives_truth(f.node.type) ? Type::boolean : f.x().type);
}

ReadTensor fold_where(const Folding& f) {
  const Array condition = Array::of(f.x(0)), a = Array::of(f.x(1)), b = Array::of(f.x(2));
  const Shape shape = f.made(broadcast_shape(broadcast_shape(condition.shape, a.shape), b.shape), sizeof(double));
  Array made = broadcast(a, shape);
  const Array chosen = broadcast(condition, shape), other = broadcast(b, shape);
  for (std::size_t i = 0; i < made.numbers.size(); ++i)
    if (chosen.numbers[i] == 0) made.numbers[i] = other.numbers[i];
  return made.as(f.x(1).type);
}

ReadTensor fold_cast(const Folding& f) {
  const Type to = type_of_number(f.node.integer("to", 0), f.node.text());
  return to == f.x().type ? f.x() : Array::of(f.x()).as(to);
}

/// The same number everywhere, zero unless one is given.
ReadTensor fold_constant_of_shape(const Folding& f) {
  ReadTensor one{Type::f32, {1}, bytes_of_values(std::vector<float>{0})};
  if (f.node.has("value")) {
    const auto* const given = std::get_if<ReadTensor>(&f.node.attributes.at("value"));
    check_as(Exit::Data, given && count_of(given->shape) == 1, f.node.text(), ": its value is no single number");
    one = *given;
  }
  one.shape = {};
  const Shape shape = f.made(f.x().integers(), bytes_of(one.type));
  return strided(one, shape, Ints(shape.size(), 0));
}

ReadTensor fold_range(const Folding& f) {
  double bounds[3];
  for (std::size_t i = 0; i < 3; ++i) {
    const Array one = Array::of(f.x(i));
    check_as(Exit::Data, one.numbers.size() == 1 && std::isfinite(one.numbers[0]), f.node.text(), ": of no numbers");
    bounds[i] = one.numbers[0];
  }
  check_as(Exit::Data, bounds[2] != 0, f.node.text(), ": counts in steps of 0");
  const double count = std::max(0.0, std::ceil((bounds[1] - bounds[0]) / bounds[2]));
  check_as(Exit::Data, count < 1 << 24, f.node.text(), ": counts too far");
  Array made{{static_cast<std::int64_t>(count)}, {}};
  for (std::int64_t i = 0; i < made.shape[0]; ++i)
    made.numbers.push_back(bounds[0] + static_cast<double>(i) * bounds[2]);
  return made.as(f.x().type);
}

/// Of whole numbers, such as a shape's.
ReadTensor fold_reduce(const Folding& f) {
  const Array x = Array::of(f.x());
  const Ints axes = f.ints(1, "axes");
  std::vector<bool> folds(x.shape.size(), axes.empty());
  for (const std::int64_t axis : axes) folds[f.axis(axis, std::ssize(x.shape))] = true;
  const bool is_sum = f.node.type == "ReduceSum", is_product = f.node.type == "ReduceProd",
             is_max = f.node.type == "ReduceMax";
  Array made = reduced(x, folds,
                       is_sum       ? 0
                       : is_product ? 1
                       : is_max     ? -INFINITY
                                    : INFINITY,
                       pairs().at(is_sum       ? "Add"
                                  : is_product ? "Mul"
                                  : is_max     ? "Max"
                                               : "Min"));
  if (f.node.integer("keepdims", 1) == 0) {
    Shape shape;
    for (std::size_t axis = 0; axis < folds.size(); ++axis)
      if (!folds[axis]) shape.push_back(made.shape[axis]);
    made.shape = shape;
  }
  return made.as(f.x().type);
}

ReadTensor fold_running_sum(const Folding& f) {
  Array made = Array::of(f.x());
  check_as(Exit::Data, count_of(f.x(1).shape) == 1 && f.x(1).is_integer(), f.node.text(), ": along no single axis");
  const Ints strides = strides_in(made.shape);
  const std::size_t axis = f.axis(f.x(1).integers()[0], std::ssize(made.shape));
  check_as(Exit::Data, f.node.integer("exclusive", 0) == 0 && f.node.integer("reverse", 0) == 0, f.node.text(),
           ": is of a form that is not read");
  const std::int64_t stride = strides[axis], size = made.shape[axis];
  for (std::int64_t i = stride; i < std::ssize(made.numbers); ++i)
    if (i / stride % size != 0)
      made.numbers[static_cast<std::size_t>(i)] += made.numbers[static_cast<std::size_t>(i - stride)];
  return made.as(f.x().type);
}

ReadTensor fold_triangle(const Folding& f) {
  Array made = Array::of(f.x());
  check_as(Exit::Data, !f.has(1) || count_of(f.x(1).shape) == 1, f.node.text(), ": of no single diagonal");
  const std::int64_t k = f.has(1) ? std::clamp<std::int64_t>(f.x(1).integers()[0], -(1 << 30), 1 << 30) : 0;
  check_as(Exit::Data, made.shape.size() >= 2, f.node.text(), ": of no matrix");
  const std::int64_t columns = made.shape.back(), rows = made.shape[made.shape.size() - 2];
  for (std::size_t i = 0; i < made.numbers.size(); ++i) {
    const std::int64_t row = static_cast<std::int64_t>(i) / columns % rows,
                       column = static_cast<std::int64_t>(i) % columns;
    if (f.node.integer("upper", 1) != 0 ? column - row < k : column - row > k) made.numbers[i] = 0;
  }
  return made.as(f.x().type);
}

const FoldTable& folds() {
  static const FoldTable all = [] {
    FoldTable table = {
        {"Where", fold_where},      {"Cast", fold_cast},        {"ConstantOfShape", fold_constant_of_shape},
        {"Range", fold_range},      {"ReduceSum", fold_reduce}, {"ReduceProd", fold_reduce},
        {"ReduceMax", fold_reduce}, {"ReduceMin", fold_reduce}, {"CumSum", fold_running_sum},
        {"Trilu", fold_triangle}};
    add_moves(table);
    for (const auto& [type, of] : pairs()) table[type] = fold_pair;
    for (const auto& [type, of] : singles()) table[type] = fold_single;
    return table;
  }();
  return all;
}

}  // namespace

std::vector<ReadTensor> folded(const ReadNode& node, const std::vector<const ReadTensor*>& in, std::int64_t samples) {
  const auto found = folds().find(node.type);
  if (found == folds().end() || (in.empty() && node.type != "Constant")) return {};
  return {found->second({node, in, samples})};
}

}  // namespace lethe::onnx
