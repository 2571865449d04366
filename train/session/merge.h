// Adapters as a part of the weights that they stand beside.
#pragma once
#include "framework/builder/network.h"
#include "framework/run/store.h"

namespace lethe {

/// Adds to each weight what the adapters beside it compute, W + scale B A (of an embedding's table A B^T), in f64,
/// rounded once. Their B is 0 then, so the network computes what it did, but for that rounding. A weight in bf16 or f16
/// would lose what is added to it: the store has weights in f32 or f64. Fails for a weight that a layer without an
/// adapter reads, too, such as a tied head.
void merge_adapters(Store& store, const Network& network);

}  // namespace lethe
