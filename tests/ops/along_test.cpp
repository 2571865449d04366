// OpDef::along: an op that says that it works position by position gives for one index of an axis, run on what its
// inputs have there alone, what it gives there among others. Ops of a row's backward are among them.
#include "framework/language/along.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

#include "framework/error.h"
#include "framework/language/op_def.h"
#include "tests/support/op_program.h"
#include "tests/support/values.h"

namespace lethe::testing {
namespace {

/// The size of the axis that is `last`th from the end; 1 where there is none.
std::int64_t size_from_end(const Shape& shape, std::size_t last) {
  return last < shape.size() ? shape[shape.size() - 1 - last] : 1;
}

/// One index of one axis of a tensor, as rows of bytes that lie apart.
struct Index {
  std::size_t axis;
  std::int64_t at;

  /// Moves its bytes from `whole` to `one`.
  void copy(const Var& var, const void* whole, void* one) const {
    const auto rest = var.shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1;
    const std::int64_t size = elements(Shape(rest, var.shape.end())) * bytes_of(var.dtype);
    const std::int64_t rows = bytes_of(var) / (size * var.shape[axis]);
    for (std::int64_t row = 0; row < rows; ++row)
      std::memcpy(static_cast<std::byte*>(one) + row * size,
                  static_cast<const std::byte*>(whole) + (row * var.shape[axis] + at) * size,
                  static_cast<std::size_t>(size));
  }
};

/// An op on one index of an axis of its inputs.
struct Narrowed {
  Program program;
  std::vector<VarId> in, out;
  std::vector<bool> cut;  // by input: whether it has the axis
};

/// With the axis that is `last`th from the end cut: of all inputs that have it, or by Along::Rows of the first. None if
/// the shape rule takes no such inputs.
std::optional<Narrowed> narrowed(const Program& program, const Op& op, Along along, std::size_t last,
                                 std::int64_t size) {
  Narrowed made;
  for (std::size_t slot = 0; slot < op.in.size(); ++slot) {
    if (op.in[slot] == kNone) {
      made.in.push_back(kNone);
      made.cut.push_back(false);
      continue;
    }
    Var var = program.vars[op.in[slot]];
    made.cut.push_back((slot == 0 || along == Along::Elements) && size_from_end(var.shape, last) == size);
    if (made.cut.back()) var.shape[var.shape.size() - 1 - last] = 1;
    made.in.push_back(add_var(
        made.program, {.name = message("in", slot), .shape = var.shape, .dtype = var.dtype, .kind = Kind::Input}));
  }
  try {
    made.out = append_op(made.program, 0, op.role, op.type, made.in, op.attrs, "out");
  } catch (const Error&) {
    return std::nullopt;
  }
  return made;
}

/// The axis that the output keeps: the one in which the shapes differ, `size` and 1. None if it keeps none.
std::optional<std::size_t> kept_axis(const Shape& whole, const Shape& one, std::int64_t size) {
  if (whole.size() != one.size()) return std::nullopt;
  std::optional<std::size_t> axis;
  for (std::size_t a = 0; a < whole.size(); ++a) {
    if (whole[a] == one[a]) continue;
    if (axis || whole[a] != size || one[a] != 1) return std::nullopt;
    axis = a;
  }
  return axis;
}

/// The axes that all outputs keep, by output; none if one of them does not, or by Along::Rows keeps it as its last.
std::optional<std::vector<std::size_t>> kept_axes(const Program& program, const Op& op, const Narrowed& one,
                                                  Along along, std::int64_t size) {
  std::vector<std::size_t> axes;
  for (std::size_t slot = 0; slot < op.out.size(); ++slot) {
    const Shape& whole = program.vars[op.out[slot]].shape;
    const auto axis = kept_axis(whole, one.program.vars[one.out[slot]].shape, size);
    if (!axis || (along == Along::Rows && *axis + 1 == whole.size())) return std::nullopt;
    axes.push_back(*axis);
  }
  return axes;
}

/// The size of the axis that the op may keep: of all inputs that have it, or by Along::Rows of the first.
std::int64_t size_of_axis(const Program& program, const Op& op, Along along, std::size_t last) {
  std::int64_t size = 1;
  for (std::size_t slot = 0; slot < (along == Along::Rows ? 1 : op.in.size()); ++slot)
    if (op.in[slot] != kNone) size = std::max(size, size_from_end(program.vars[op.in[slot]].shape, last));
  return size;
}

/// Gives the narrowed op what the inputs have at `at`.
void fill_at(Interpreter& alone, const Narrowed& one, const Interpreter& values, const Op& op, std::size_t last,
             std::int64_t at) {
  for (std::size_t slot = 0; slot < op.in.size(); ++slot) {
    if (op.in[slot] == kNone) continue;
    const Guarded& from = values.memory(op.in[slot]);
    Guarded& to = alone.memory(one.in[slot]);
    const Var& var = values.program().vars[op.in[slot]];
    if (one.cut[slot])
      Index{var.shape.size() - 1 - last, at}.copy(var, from.data(), to.data());
    else
      to.copy_from(from);
  }
}

/// Whether the order in which an op adds up follows from the shape: plain sums, and products, which a library does.
bool adds_by_shape(const Op& op) { return op.type == "sum" || op.type == "mean" || op_def(op.type).mult_adds; }

/// "" if an output of the narrowed op is what the whole has there: to the bit, but within rounding of `sums`.
std::string difference_at(const Index& index, const Var& var, const Var& one, const Guarded& got, const Guarded& whole,
                          bool sums) {
  const Guarded expected(bytes_of(one));
  index.copy(var, whole.data(), expected.data());
  if (sums)
    return difference(elements(one.shape), {one.dtype, got.data()}, {one.dtype, expected.data()},
                      most_error(one.dtype));
  return got.holds_same(expected) ? "" : "other bits";
}

/// Holds each index of the axis to the whole. Whether the op keeps that axis.
bool check_axis(const Interpreter& values, const Op& op, const Trial& whole, Along along, std::size_t last) {
  const Program& program = values.program();
  const std::int64_t size = size_of_axis(program, op, along, last);
  if (size == 1) return false;
  const std::optional<Narrowed> one = narrowed(program, op, along, last, size);
  if (!one) return false;
  const auto axes = kept_axes(program, op, *one, along, size);
  if (!axes) return false;
  for (std::int64_t at = 0; at < size; ++at) {
    Interpreter alone(one->program, {.threads = values.threads()});
    fill_at(alone, *one, values, op, last, at);
    alone.run();
    for (std::size_t slot = 0; slot < op.out.size(); ++slot)
      EXPECT_EQ(difference_at({(*axes)[slot], at}, program.vars[op.out[slot]], one->program.vars[one->out[slot]],
                              alone.memory(one->out[slot]), whole.outputs[slot], adds_by_shape(op)),
                "")
          << "output " << slot << " at " << at << " of the axis that is " << last << " from the last";
  }
  return true;
}

bool has_axes(const Program& program, const Op& op) {
  return std::ranges::any_of(op.out, [&](VarId out) { return elements(program.vars[out].shape) > 1; });
}

TEST(Along, AnIndexByItselfIsWhatItIsAmongOthers) {
  std::set<std::string> met, checked;
  for (const Sample& sample : all_samples())
    for_each_op(sample, [&](const Interpreter& values, const Op& op, const Kernel& kernel) {
      const Along along = op_def(op.type).along;
      if (along == Along::Mixed || !has_axes(values.program(), op)) return;
      met.insert(op.type);
      const Trial whole = try_op(values, op, kernel);
      for (std::size_t last = 0; last < 5; ++last)
        if (check_axis(values, op, whole, along, last)) checked.insert(op.type);
    });
  for (const std::string& type : met) EXPECT_TRUE(checked.contains(type)) << type << " keeps no axis in any row";
  EXPECT_GT(checked.size(), 40U);
}

}  // namespace
}  // namespace lethe::testing
