#include "memopt/passes/mask_picked.h"

#include <algorithm>
#include <optional>

#include "framework/language/views.h"
#include "memopt/passes/rewriter.h"

namespace lethe {
namespace {

/// What makes a gradient for one mask alone, and that mask.
struct MadeForMask {
  const Op *made, *mask;
};

std::optional<MadeForMask> for_mask_by(const Rewriter& rewriter, VarId y, const Op& made) {
  const VarId a = made.out[0];
  if (rewriter.made_for_one(a) == nullptr) return std::nullopt;
  const Op& mask = *rewriter.uses().readers(a)[0];
  if (!masks_one(mask) || mask.in[0] != y || mask.in[1] != a || !rewriter.is_here(mask.out[0])) return std::nullopt;
  if (!rewriter.is_written_once(y) || !rewriter.is_written_once(a)) return std::nullopt;
  return MadeForMask{&made, &mask};
}

bool is_alike(const Op& a, const Op& b) { return a.type == b.type && a.attrs == b.attrs; }

/// What an op would show as a view of this kind.
std::vector<Shown> shown_as(const Rewriter& rewriter, Op op, ViewOf kind) {
  const char* const view = op_def(op.type).as_view;
  if (!view || op_def(view).view != kind) return {};
  op.type = view;
  return shown_by(rewriter.program(), op);
}

/// The masks by y, or by all that is joined to y, of the gradient that `back` gives; none if some of it goes elsewhere.
std::vector<MadeForMask> all_masks(const Rewriter& rewriter, VarId y, const Op& back) {
  if (const auto whole = for_mask_by(rewriter, y, back)) return {*whole};
  const VarId a = back.out[0];
  const Op* const joined = rewriter.uses().maker(y);
  if (!joined || !rewriter.is_here(a) || rewriter.is_pinned(a) || !rewriter.is_written_once(a)) return {};
  std::vector<Shown> parts = shown_as(rewriter, *joined, ViewOf::Parts);
  const auto readers = rewriter.uses().readers(a);
  if (readers.size() != parts.size() || static_cast<std::size_t>(rewriter.uses().reads(a)) != parts.size()) return {};
  std::vector<MadeForMask> masks;
  for (const Op* const reader : readers) {
    const std::vector<Shown> cut = shown_as(rewriter, *reader, ViewOf::Part);
    const auto part = std::find_if(parts.begin(), parts.end(), [&](const Shown& of) {
      return !cut.empty() && of.offset == cut[0].offset && rewriter.var(of.var).shape == rewriter.var(cut[0].var).shape;
    });
    if (part == parts.end()) return {};
    const auto masked = for_mask_by(rewriter, part->var, *reader);
    if (!masked || (!masks.empty() && !is_alike(*masked->mask, *masks.front().mask))) return {};
    masks.push_back(*masked);
    parts.erase(part);
  }
  return masks;
}

}  // namespace

Program mask_picked(Program program, const std::vector<Pin>& pins) {
  Rewriter rewriter(std::move(program), pins);
  return rewriter.run([&](const Op& back) {
    if (op_def(back.type).part != FusionPart::PickGradient) return;
    const VarId index = back.in[0], gradient = back.in[1];
    const Op* const pick = rewriter.uses().maker(index);
    if (!pick || op_def(pick->type).part != FusionPart::Pick || pick->out[1] != index) return;
    const VarId y = pick->in[0];
    for (const VarId v : {y, pick->out[0], index, gradient})
      if (!rewriter.is_written_once(v)) return;
    const std::vector<MadeForMask> masks = all_masks(rewriter, y, back);
    if (masks.empty()) return;
    Op first = *masks.front().mask, then = back;
    first.in = {pick->out[0], gradient};
    first.out = {rewriter.add(rewriter.var(gradient))};
    then.in[1] = first.out[0];
    const bool is_whole = masks.front().made == &back;
    then.out = is_whole ? masks.front().mask->out : std::vector<VarId>{rewriter.add(rewriter.var(back.out[0]))};
    for (const auto& [made, mask] : masks) {
      rewriter.replace(*mask);
      if (is_whole) continue;
      Op cut = *made;
      cut.in = then.out;
      cut.out = mask->out;
      rewriter.replace(*made, {std::move(cut)});
    }
    rewriter.replace(back, {std::move(first), std::move(then)});
  });
}

}  // namespace lethe
