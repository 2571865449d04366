#include "memopt/recompute/segments.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "memopt/recompute/walk.h"

namespace lethe {
namespace {

/// The most parts into which all bytes are divided.
constexpr int kMostSegments = 128;
/// So many numbers of parts in a row that lead no lower are the last.
constexpr int kMostInVain = 12;
/// Forward ops between which cuts are looked for: their pairs are gone through.
constexpr int kMostPlaces = 4000;

class Cuts {
 public:
  explicit Cuts(const Tape& tape) : tape_(tape), made_at_(tape.parts.front().turn) {
    const int turn = tape.parts.front().turn;
    read_until_.assign(tape.values.size(), -1);
    for (int i = 0; i < turn; ++i)
      for (const VarId v : tape.ops[i].call.in) read_until_[v] = i;
    for (const std::vector<VarId>& alike : tape.candidates)
      if (const VarId v = alike.front(); tape.values[v].maker < turn) {
        made_at_[tape.values[v].maker].push_back(v);
        all_ += held(v);
      }
  }

  std::int64_t all() const { return all_; }

  /// What crosses none of the cuts is made again once. Nothing if no cuts leave segments of at most `most` bytes.
  std::optional<Choice> within(std::int64_t most) const {
    const int turn = static_cast<int>(made_at_.size());
    constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
    std::vector<std::int64_t> kept(turn + 1, kNever);  // by the number of ops before the last cut: fewest bytes
    std::vector<int> before(turn + 1, -1);             // and the cut before that
    kept[0] = 0;
    for (int end = 1; end <= turn; ++end) {
      std::int64_t inner = 0, crossing = 0;
      for (int begin = end - 1; begin >= 0; --begin) {
        for (const VarId v : made_at_[begin])
          if (read_until_[v] >= end)
            crossing += tape_.values[v].bytes;
          else
            inner += held(v);
        if (inner > most) break;
        if (kept[begin] == kNever || kept[begin] + crossing >= kept[end]) continue;
        kept[end] = kept[begin] + crossing;
        before[end] = begin;
      }
    }
    if (before[turn] < 0) return std::nullopt;
    Choice choice = keep_all(tape_);
    std::vector<bool> crosses(tape_.values.size());
    for (int end = before[turn]; end > 0; end = before[end])
      for (int op = 0; op < end; ++op)
        for (const VarId v : made_at_[op]) crosses[v] = crosses[v] || read_until_[v] >= end;
    for (const std::vector<VarId>& alike : tape_.candidates)
      for (const VarId v : alike)
        choice[v] = crosses[alike.front()] ? RecomputePolicy::Keep : std::max(choice[v], RecomputePolicy::Once);
    return choice;
  }

 private:
  /// What the value takes while backward goes through its segment.
  std::int64_t held(VarId v) const { return tape_.values[v].read_by_backward ? tape_.values[v].bytes : 0; }

  const Tape& tape_;
  std::vector<std::vector<VarId>> made_at_;  // by op: its candidates, of the first part
  std::vector<int> read_until_;              // by value: its last forward reader; -1: none
  std::int64_t all_ = 0;
};

}  // namespace

std::vector<Rung> segmented(const Tape& tape) {
  std::vector<Rung> rungs;
  if (tape.parts.front().turn > kMostPlaces) return rungs;
  const Cuts cuts(tape);
  Walk walk(tape);
  walk.run(keep_all(tape));
  std::int64_t lowest = walk.course().peak;
  for (int segments = 2, in_vain = 0; segments <= kMostSegments && in_vain < kMostInVain; ++segments, ++in_vain) {
    std::optional<Choice> choice = cuts.within(cuts.all() / segments);
    if (!choice || !walk.run(*choice)) continue;
    const Course& course = walk.course();
    if (course.peak >= lowest) continue;
    lowest = course.peak;
    in_vain = -1;
    rungs.push_back({.choice = std::move(*choice), .peak = course.peak, .seconds = course.seconds});
  }
  return rungs;
}

}  // namespace lethe
