// How memory stands at a point of a program that check_plan runs.
#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "framework/error.h"
#include "framework/language/program.h"
#include "memopt/analysis/held_bytes.h"

namespace lethe {

/// What ranks have begun to exchange. Its bytes may arrive at any time until an op has waited for it.
class UnderWay {
 public:
  /// `extent` is empty for a var that has no place in the plan, such as a parameter in the store.
  void begin(VarId v, const Extent& extent, const std::string& name) { begun_[v] = {extent, name}; }
  /// Whether it was begun and not ended before.
  bool end(VarId v) { return begun_.erase(v) == 1; }
  bool has(VarId v) const { return begun_.count(v) != 0; }

  /// Fails if `by` would be written over something.
  void check_free(const Extent& extent, const std::string& by) const {
    for (const auto& [v, begun] : begun_)
      check(!extent.meets(begun.extent), "plan: '", by, "' is written over '", begun.name, "', which is under way");
  }
  void check_none() const {
    for (const auto& [v, begun] : begun_)
      check(false, "plan: '", begun.name, "' is still under way at the end of the step");
  }
  /// Adds what the other has under way.
  void join(const UnderWay& other) { begun_.insert(other.begun_.begin(), other.begun_.end()); }
  bool operator==(const UnderWay& other) const {
    return std::equal(begun_.begin(), begun_.end(), other.begun_.begin(), other.begun_.end(),
                      [](const auto& a, const auto& b) { return a.first == b.first; });
  }

 private:
  struct Begun {
    Extent extent;
    std::string name;
  };
  std::map<VarId, Begun> begun_;
};

struct PlanState {
  HeldBytes bytes;
  std::vector<bool> taken = {};  // by buffer: those on demand that may be held
  std::int64_t held = 0;         // bytes of these
  UnderWay under_way = {};
  bool operator==(const PlanState&) const = default;

  /// These do what HeldBytes does, and fail where something is under way.
  void write(const Extent& extent, int value, const std::string& by) {
    under_way.check_free(extent, by);
    bytes.write(extent, value, by);
  }
  void clobber(const Extent& extent, const std::string& by) {
    under_way.check_free(extent, by);
    bytes.clobber(extent, by);
  }
};

}  // namespace lethe
