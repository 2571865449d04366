#include "framework/language/views.h"

#include "framework/error.h"

namespace lethe {
namespace {

std::size_t axis_of(const Op& op) { return static_cast<std::size_t>(op.attrs.integer("axis")); }

/// Bytes from an index along the axis to the next.
std::int64_t step_along(const Var& var, std::size_t axis) {
  return strides_of(var.shape, var.pitch)[axis] * bytes_of(var.dtype);
}

}  // namespace

Roots::Roots(std::size_t vars) : of_(vars) {
  for (std::size_t v = 0; v < vars; ++v) of_[v].root = static_cast<VarId>(v);
}

bool Roots::add(const Shown& shown) {
  const View part = find(shown.var);
  if (find(shown.in).root == part.root) return false;
  of_[part.root] = {shown.in, shown.offset - part.offset};
  return true;
}

View Roots::find(VarId v) {
  View& view = of_[v];
  while (of_[view.root].root != view.root) {  // the way there is made shorter
    View& next = of_[view.root];
    view = {next.root, view.offset + next.offset};
    next = {of_[next.root].root, next.offset + of_[next.root].offset};
  }
  return view;
}

std::vector<Shown> shown_by(const Program& program, const Op& op) {
  switch (op_def(op.type).view) {
    case ViewOf::Nothing:
      return {};
    case ViewOf::Whole:
      return {{op.out[0], op.in[0], 0}};
    case ViewOf::Part:
      return {{op.out[0], op.in[0], op.attrs.integer("begin") * step_along(program.vars[op.in[0]], axis_of(op))}};
    case ViewOf::Parts:
      break;
  }
  std::vector<Shown> parts;
  const std::int64_t step = step_along(program.vars[op.out[0]], axis_of(op));
  std::int64_t at = 0;
  for (const VarId part : op.in) {
    parts.push_back({part, op.out[0], at * step});
    at += program.vars[part].shape[axis_of(op)];
  }
  return parts;
}

Roots roots_of(const Program& program) {
  Roots roots(program.vars.size());
  for (const Block& block : program.blocks)
    for (const Op& op : block.ops)
      for (const Shown& shown : shown_by(program, op))
        check(roots.add(shown), "'", program.vars[shown.var].name, "' is to lie in '", program.vars[shown.in].name,
              "', with which it lies already");
  return roots;
}

std::vector<View> views_of(const Program& program) {
  Roots roots = roots_of(program);
  std::vector<View> views;
  for (std::size_t v = 0; v < program.vars.size(); ++v) views.push_back(roots.find(static_cast<VarId>(v)));
  return views;
}

std::vector<VarId> view_root(const Program& program) {
  std::vector<VarId> roots;
  for (const View& view : views_of(program)) roots.push_back(view.root);
  return roots;
}

std::optional<std::int64_t> pitch_of_part(const Var& whole, const Shape& part, std::size_t axis) {
  const std::int64_t row = row_of(part), distance = row_step(whole);
  const std::int64_t pitch = elements(part) == row || distance == row ? 0 : distance;
  const Shape within = strides_of(part, pitch), of_whole = strides_of(whole.shape, whole.pitch);
  for (std::size_t k = 0; k < axis; ++k)
    if (part[k] > 1 && within[k] != of_whole[k]) return std::nullopt;
  return pitch;
}

void check_view(const Program& program, const Op& op) {
  if (op_def(op.type).view == ViewOf::Whole) {
    const Var &x = program.vars[op.in[0]], &y = program.vars[op.out[0]];
    check(x.pitch == y.pitch && (x.pitch == 0 || row_of(x.shape) == row_of(y.shape)), "shows '", x.name, "', a ",
          text_of(x), ", as ", text_of(y), "; rows that are apart stay as they are");
    return;
  }
  for (const Shown& shown : shown_by(program, op)) {
    const Var &whole = program.vars[shown.in], &part = program.vars[shown.var];
    const std::optional<std::int64_t> pitch = pitch_of_part(whole, part.shape, axis_of(op));
    check(pitch.has_value(), "'", part.name, "', a ", text_of(part), ", is no view of '", whole.name, "', a ",
          text_of(whole));
    check(*pitch == part.pitch, "'", part.name, "' has pitch ", part.pitch, ", as a part of '", whole.name, "' it has ",
          *pitch);
  }
}

}  // namespace lethe
