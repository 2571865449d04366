// A network file's programs for text symbol by symbol, over one cache (framework/builder/decode_program.h).
#pragma once
#include <optional>
#include <string>

#include "framework/builder/decode_program.h"
#include "train/session/settings.h"

namespace lethe {

/// Both over one cache.
struct DecodePrograms {
  std::int64_t context = 0;                // symbols of the window
  std::int64_t block = 1;                  // into how many at a time it is cut
  DecodeProgram next = {};                 // reads one symbol
  std::optional<DecodeProgram> fill = {};  // reads a block into the cache, and predicts nothing
};

inline constexpr std::int64_t kReadAtOnce = 64;
/// Those of the network that `setting` means, whose window is its file's var `length`; none without such a var. A block
/// is the largest divisor of the window below it that is at most `most`. If there are none `why_none` says why.
std::optional<DecodePrograms> decode_programs(const Network& window, NetworkSetting setting,
                                              std::int64_t most = kReadAtOnce, std::string* why_none = nullptr);

}  // namespace lethe
