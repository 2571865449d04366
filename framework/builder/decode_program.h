// A network over a few symbols at a time that remembers those before: what it has made of them stays in a cache.
#pragma once
#include <optional>

#include "framework/builder/network.h"

namespace lethe {

struct DecodeProgram {
  Network network = {};   // its prediction is that of the symbol which follows
  std::int64_t rows = 1;  // symbols that it reads
  VarId symbols = kNone;  // i32 [1, rows]: fed
  // Fed where they are not kNone: the network has use for them. The window is cut into blocks.
  VarId block = kNone;     // i64 scalar: in which block the symbols stand, from 0
  VarId row = kNone;       // i64 scalar: where in it, if they are not all of it
  VarId position = kNone;  // i32 [1]: where in the window the first one stands, for rotary positions
  VarId seen = kNone;      // i32 [1]: symbols that the cache holds with these: position + rows
};

/// Made of one network twice, for evaluation at batch 1: over a window, and over windows of as many symbols as the
/// program reads: one, or `block`, which divides the window. The symbols stand in one input of both, i32 [1, T]. Where
/// the first network has attention over a window, the program has it over a cache, a State [blocks, block, kv_heads *
/// D] for keys and one for values; where a parameter has a row for each position, it reads those of its symbols. None
/// if the network computes anything across positions (OpDef::along) but causal attention of one packed input, or has
/// loops or branches; of a block also without attention.
std::optional<DecodeProgram> decode_program(const Network& window, const Network& part, VarId symbols,
                                            std::int64_t block);

}  // namespace lethe
