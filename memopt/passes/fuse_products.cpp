#include "memopt/passes/fuse_products.h"

#include <algorithm>

#include "framework/language/block_formats.h"
#include "memopt/passes/rewriter.h"

namespace lethe {
namespace {

/// Whether the product may give what `sums` makes later: what reads the product's result in between does not matter.
bool may_sum(const Rewriter& rewriter, const Op& product, const Op& sums, VarId summed) {
  const Uses& uses = rewriter.uses();
  const auto is_made_here = [&](const Op& op) { return rewriter.is_here(op.out[0]) && uses.maker(op.out[0]) == &op; };
  return is_made_here(product) && is_made_here(sums) && &product < &sums && !rewriter.is_replaced(product) &&
         !uses.is_written(summed, &product, &sums);
}

void fuse_sums_of(Rewriter& rewriter, const Op& sums) {
  const FusionRule* const rule = rule_of(sums, Fusion::Sums);
  if (!rule) return;
  const VarId summed = sums.in[rule->input];
  for (const Op* const product : rewriter.uses().readers(summed)) {
    if (!may_sum(rewriter, *product, sums, summed)) continue;
    std::vector<Op> both = rule->fused(rewriter.program(), *product, sums);
    if (both.empty()) continue;
    rewriter.replace(*product, {std::move(both.front())});
    rewriter.replace(sums);
    return;
  }
}

/// Without those that memory settings ask for: they may not decide on bits.
std::vector<Pin> of_results(std::vector<Pin> pins) {
  std::ranges::replace(pins, Pin::Skipped, Pin::None);
  std::ranges::replace(pins, Pin::Gradient, Pin::None);
  return pins;
}

/// The op that makes what v shows whole, for one reader alone; null if there is none.
const Op* made_whole(const Rewriter& rewriter, VarId v) {
  const Op* made = rewriter.made_for_one(v);
  while (made && op_def(made->type).view == ViewOf::Whole) made = rewriter.made_for_one(made->in[0]);
  return made;
}

/// Whether v is a weight in blocks as floats: a product that reads these blocks (fuse_copies.h) does nothing beside.
bool widens_blocks(const Rewriter& rewriter, VarId v) {
  const Op* const maker = rewriter.uses().maker(v);
  return maker && maker->type == kCast && is_in_blocks(rewriter.var(maker->in[0]).dtype);
}

void fuse_derivative(Rewriter& rewriter, const Op& derivative) {
  const FusionRule* const rule = rule_of(derivative, Fusion::Derivative);
  const Op* const product = rule ? made_whole(rewriter, derivative.in[rule->input]) : nullptr;
  if (!product || std::ranges::any_of(product->in, [&](VarId v) { return widens_blocks(rewriter, v); })) return;
  std::vector<Op> both = rule->fused(rewriter.program(), *product, derivative);
  if (both.empty()) return;
  const VarId x = both.front().in.back();  // what the product reads beside its own inputs
  if (!rewriter.is_written_once(x) || rewriter.uses().maker(x) > product) return;
  Op view = derivative;
  view.type = kReshape;
  view.in = {derivative.in[rule->input]};
  view.attrs = {{"shape", rewriter.var(derivative.out[0]).shape}};
  rewriter.replace(*product, {std::move(both.front())});
  rewriter.replace(derivative, {std::move(view)});
}

}  // namespace

Program fuse_products(Program program, const std::vector<Pin>& given) {
  const std::vector<Pin> pins = of_results(given);
  Rewriter sums(std::move(program), pins);
  program = sums.run([&](const Op& op) { fuse_sums_of(sums, op); });
  Rewriter derivatives(std::move(program), pins);
  return derivatives.run([&](const Op& op) { fuse_derivative(derivatives, op); });
}

}  // namespace lethe
