// What the ops of attention take and give. Each has inputs q, k, v, lengths, step, positions and mask first.
#pragma once
#include "framework/language/kernel.h"
#include "framework/language/shape_rules.h"
#include "kernels/attention/shape.h"

namespace lethe {

/// Fails by the op's name if inputs and attributes do not fit each other.
AttentionShape shape_of(const InferArgs& args);
AttentionShape shape_of(const PrepareArgs& args);  // also where the samples stand in the whole batch

/// Of y and lse, for queries q.
Type output_of(const AttentionShape& s, const Var& q);
Type lse_of(const AttentionShape& s, const Var& q);

/// Multiply-adds of one run, of so many products of a row with each key that it sees, where every sample has its whole
/// length and is one text.
std::int64_t attention_products(const InferArgs& args, std::int64_t a_pair);

}  // namespace lethe
