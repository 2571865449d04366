// What an op can do of the work of another beside it, so that passes over memory are saved.
#pragma once
#include <cstdint>
#include <vector>

#include "framework/language/program.h"

namespace lethe {

/// Where an op activates output 0 (kActivation) before it writes it: not where a CPU's library might give other bits.
enum class Activates : std::uint8_t { Nowhere, OnGpu, Everywhere };

/// What passes know an op as, in the patterns that they look for.
enum class FusionPart : std::uint8_t {
  None,
  Activation,  // its type names the activation that it computes, and nothing else
  Mask,  // its gradient: output 0 is input 1, or inputs 1 and 2 added up, where input 0 is above 0, or NaN; else 0
  Pick,  // each element of output 0 is one of input 0; output 1 says which
  PickGradient  // its gradient: input 0 says where each element of input 1 goes; all else is 0
};

/// Two ops, of which the second reads what the first gives, as one that does the work of both.
enum class Fusion : std::uint8_t {
  // fuse_masks: a gradient masks `input` itself, as that of the activation of what the first makes asks for. Gives the
  // gradient, whose input is still what the mask gave.
  Mask,
  // join_masks: a gradient does the work of the first, a mask, which makes `input`, too. Gives the gradient, which has
  // what the mask gave after its own outputs.
  Join,
  // join_sums: a norm makes the sum, `input`, too. Gives the norm, which has the sum after its own outputs.
  JoinSum,
  // fuse_shortcut_norms: what the second adds, `input`, is never written. Gives both ops.
  ShortcutNorm,
  // fuse_products: a product sums the columns of `input`, which both read, on the way. Gives the product, with the
  // second's output after its own.
  Sums,
  // fuse_products: a product makes of `input`, which it gives, what the second does, on the way. Gives the product,
  // which stands where the first did.
  Derivative,
  // fuse_updates: a rule of the first. An update makes its gradient itself, some of it at a time. Gives the update.
  Update
};

struct FusionRule {
  Fusion fusion;
  int input = -1;  // of the op whose rule it is; -1: none
  /// Nothing if they cannot, or if nothing is gained.
  std::vector<Op> (*fused)(const Program& program, const Op& first, const Op& second) = nullptr;
};

}  // namespace lethe
