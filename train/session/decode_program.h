// A network over a few symbols at a time that remembers those before: what it has made of them stays in a cache.
#pragma once
#include <optional>
#include <string>

#include "framework/network.h"
#include "train/session/settings.h"

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

/// Both over one cache.
struct DecodePrograms {
  std::int64_t context = 0;                // symbols of the window
  std::int64_t block = 1;                  // into how many at a time it is cut
  DecodeProgram next = {};                 // reads one symbol
  std::optional<DecodeProgram> fill = {};  // reads a block into the cache, and predicts nothing
};

/// Made of one network twice, for evaluation at batch 1: over a window, and over windows of as many symbols as the
/// program reads: one, or `block`, which divides the window. Where the first has attention over a window, the program
/// has it over a cache, a State [blocks, block, kv_heads * D] for keys and one for values; where a parameter has a row
/// for each position, it reads those of its symbols. None if the network computes anything else across positions than
/// causal attention of one packed input, or has loops or branches; of a block also without attention.
std::optional<DecodeProgram> decode_program(const Network& window, const Network& part, std::int64_t block);
inline constexpr std::int64_t kReadAtOnce = 64;
/// Those of the network that `setting` means, whose window is its file's var `length`; none without such a var. A block
/// is the largest divisor of the window below it that is at most `most`. If there are none `why_none` says why.
std::optional<DecodePrograms> decode_programs(const Network& window, NetworkSetting setting,
                                              std::int64_t most = kReadAtOnce, std::string* why_none = nullptr);

}  // namespace lethe
