// Types and fusions of norms of rows.
#pragma once
#include <vector>

#include "framework/language/program.h"
#include "framework/language/shape_rules.h"

namespace lethe {

/// Of a norm of `x`: weight or bias; mean or inverse.
inline Type weight_of_rows(const Var& x) { return {{x.shape.back()}, wide_of(x.dtype)}; }
inline Type one_a_row(const Var& x) { return {Shape(x.shape.begin(), x.shape.end() - 1), wide_of(x.dtype)}; }

/// Fusion::JoinSum of a norm: `slot` is its input that is added.
template <int slot>
std::vector<Op> with_sum(const Program&, const Op& sum, const Op& norm) {
  if (norm.in.size() > slot) return {};
  Op both = norm;
  both.in.resize(slot + 1, kNone);
  both.in[0] = sum.in[0], both.in[slot] = sum.in[1];
  both.out.push_back(sum.out[0]);
  return {both};
}

}  // namespace lethe
