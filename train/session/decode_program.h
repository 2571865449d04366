// A network over one symbol at a time that remembers those before: what it has made of them stays in a cache.
#pragma once
#include <optional>

#include "framework/network.h"
#include "train/session/settings.h"

namespace lethe {

struct DecodeProgram {
  Network network = {};  // its prediction is that of the symbol which follows
  VarId symbol = kNone;  // i32 [1,1]: fed
  // Fed where they are not kNone: the network has use for them.
  VarId at = kNone;        // i64 scalar: which symbol of the window this is, from 0
  VarId position = kNone;  // i32 [1]: the same, for rotary positions
  VarId seen = kNone;      // i32 [1]: symbols that the cache holds with this one: at + 1
};

/// Made of one network twice, for evaluation at batch 1: over a window, and over windows of one symbol. Where the first
/// has attention over a window, the program has it over a cache, a State [context, kv_heads * D] for keys and one for
/// values; where a parameter has a row for each position, it reads that of `at`. None if the network computes anything
/// else across positions than causal attention of one packed input, or has loops or branches.
std::optional<DecodeProgram> decode_program(const Network& window, const Network& single);
/// The same of the network that `setting` means, whose window is its file's var `length`; none without such a var.
std::optional<DecodeProgram> decode_program(const Network& window, NetworkSetting setting);

}  // namespace lethe
