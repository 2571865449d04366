#include "memopt/passes/reuse.h"

#include <algorithm>
#include <numeric>
#include <string_view>

namespace lethe {
namespace {

/// A free buffer; `owner` is the storage it was made for, whose shape, dtype and size it keeps.
struct Free {
  int buffer, owner;
};

class Reuser {
 public:
  Reuser(const Program& program, const Sharing& sharing, ReuseRule rule, Log& log)
      : program_(program),
        storages_(sharing.storages),
        rule_(rule),
        log_(log),
        buffer_(storages_.size(), -1),
        owner_(storages_.size(), -1) {}

  std::vector<int> run(const Liveness& live) && {
    std::vector<int> births = eligible(), deaths = births;
    const auto before = [&](Tick Life::*at) {
      return [this, at](int a, int b) { return storages_[a].life.*at < storages_[b].life.*at; };
    };
    std::stable_sort(births.begin(), births.end(), before(&Life::born));
    std::stable_sort(deaths.begin(), deaths.end(), before(&Life::dies));
    auto dead = deaths.begin();
    for (const int s : births) {
      for (; dead != deaths.end() && storages_[*dead].life.dies <= storages_[s].life.born; ++dead) release(*dead);
      if (!take(s, live)) make(s);
    }
    return std::move(buffer_);
  }

 private:
  /// Makes buffers for those that keep one of their own; gives all others.
  std::vector<int> eligible() {
    std::vector<int> others;
    for (int s = 0; s < static_cast<int>(storages_.size()); ++s) {
      const Storage& storage = storages_[s];
      if (storage.pin == Pin::Persistable) continue;
      if (rule_.fit != Fit::Never && storage.pin == Pin::None && !storage.life.is_empty()) {
        others.push_back(s);
        continue;
      }
      make(s);
      if (storage.pin != Pin::None) log_.add("refused ", text(s), ", which ", reason_of(storage.pin));
    }
    return others;
  }

  void make(int s) {
    buffer_[s] = buffers_++;
    owner_[s] = s;
  }

  void release(int s) {
    const Free freed{buffer_[s], owner_[s]};
    if (!rule_.by_size) return pool_.push_back(freed);
    const auto larger = [&](std::int64_t bytes, const Free& free) { return bytes < storages_[free.owner].bytes; };
    pool_.insert(std::upper_bound(pool_.begin(), pool_.end(), storages_[freed.owner].bytes, larger), freed);
  }

  bool take(int s, const Liveness& live) {
    const auto found =
        std::find_if(pool_.begin(), pool_.end(), [&](const Free& free) { return serves(free.owner, s); });
    const int op = live.at[storages_[s].life.born].second;
    if (found == pool_.end()) {
      log_.add("refused ", text(s), " at ", op, ", none of ", pool_.size(), " free buffers ",
               rule_.fit == Fit::SameShape ? "has its shape and dtype" : "of its dtype is large enough");
      return false;
    }
    log_.add("!!! ", op, ", ", text(s), " => ", text(found->owner), ", cache idx ", found - pool_.begin(),
             ", pool size ", pool_.size());
    buffer_[s] = found->buffer;
    owner_[s] = found->owner;
    pool_.erase(found);
    return true;
  }

  bool serves(int owner, int s) const {
    const Var& has = var(owner);
    const Var& wants = var(s);
    if (has.dtype != wants.dtype) return false;
    return rule_.fit == Fit::SameShape ? has.shape == wants.shape : storages_[owner].bytes >= storages_[s].bytes;
  }

  const Var& var(int s) const { return program_.vars[storages_[s].root]; }
  std::string text(int s) const { return log_.wanted() ? var(s).name + text_of(var(s).shape) : ""; }

  const Program& program_;
  const std::vector<Storage>& storages_;
  const ReuseRule rule_;
  Log& log_;
  std::vector<int> buffer_, owner_;  // by storage
  int buffers_ = 0;
  std::vector<Free> pool_;  // by size, then by arrival; or by arrival
};

}  // namespace

std::vector<int> reuse_buffers(const Program& program, const Liveness& live, const Sharing& sharing, ReuseRule rule,
                               Log& log) {
  return Reuser(program, sharing, rule, log).run(live);
}

}  // namespace lethe
