// The grouping rule of optnet, a memory optimiser for Torch7 of 2016: tensors in the order of their last use, each into
// the first group that is free by then. On plain records; train/optnet/optnet_records.h makes them.
#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace lethe {

/// A moment: one call of one module.
using OptnetTick = std::int64_t;
/// Last use of what is never read again or must stay. (optnet wrote 10000 and failed on networks with more calls.)
inline constexpr OptnetTick kOptnetNever = std::numeric_limits<OptnetTick>::max();

enum class OptnetKind : std::uint8_t {
  Shared,  // moves into its group's memory
  Ghost,   // takes a place in a group, but its module points the tensor back to memory of its own
  Pinned   // the caller's: has no memory here
};

/// One storage and the calls between which it holds a value.
struct OptnetRecord {
  std::int64_t elements = 0;
  OptnetTick defined = kOptnetNever;  // first call that may write it
  OptnetTick used = kOptnetNever;     // last call that reads it
  OptnetKind kind = OptnetKind::Shared;
  bool operator==(const OptnetRecord&) const = default;
};

struct OptnetGroups {
  std::vector<int> group = {};              // by record
  std::vector<std::int64_t> elements = {};  // by group: its largest member; ghosts and pinned records count nothing
  std::int64_t ghosts = 0;                  // elements of all ghosts
  std::int64_t total() const;               // elements after sharing
};

/// First fit: a record joins the first group whose last member died strictly before the record is defined. What is
/// never used, and single elements, stay alone.
OptnetGroups group_by_last_use(const std::vector<OptnetRecord>& records);

/// Begins its settings: `--memopt optnet=...`.
inline constexpr const char* kOptnetWord = "optnet";

/// What such a setting asks for.
struct OptnetOptions {
  bool training = false;
  bool inplace = true;             // also what the network's definition left out of place
  bool reuse_buffers = true;       // one buffer for all modules of a class: inference all, training unfolded gradients
  bool remove_grad_params = true;  // inference only; training needs them
  bool operator==(const OptnetOptions&) const = default;
};

/// Reads `inference` or `training` and, with commas after it, any of `inplace`, `reuse_buffers` and
/// `remove_grad_params`, or `none` for none of them. Nothing after it means all three, as optnet has it. Fails with
/// what is known.
OptnetOptions parse_optnet(const std::string& text);
/// Reads back to the same options.
std::string text_of(const OptnetOptions& options);

}  // namespace lethe
