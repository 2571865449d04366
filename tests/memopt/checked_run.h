// The executor's checked mode: what each op reads must still be what was written, whatever plan it runs under.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "framework/language/views.h"
#include "framework/run/executor.h"
#include "memopt/analysis/liveness.h"

namespace lethe::testing {

/// The op that makes a var of the results of its blocks; null: none does.
struct CarriedBy {
  const Op* op = nullptr;
  std::size_t index = 0;  // among what it carries
};

/// Of 64 bits, which framework's hash_of takes eight times as long for: it goes by bytes.
std::uint64_t hash_of_value(const std::string& bytes);

/// Watches an executor. Keeps which value (a var and its views) owns every byte, and fails the running test if an op
/// reads bytes that another value owns, or writes (as output or workspace) over a value that is still needed but for a
/// declared in-place pair. Poisons values at birth and at death by liveness, not by plan, so that whatever is read too
/// early or too late is NaN. Hashes each op's outputs right after it ran, in a loop over all trips: nothing needs to be
/// fetched, so nothing is pinned by the test. What a loop carries may be written over when the trip reads it no more:
/// whether the right value is there is seen when it is read again.
class CheckedRun final : public Observer {
 public:
  /// `program` as it runs under `plan`, of which only the buffers that are given back are asked for; `pinned` vars live
  /// to the end of the step.
  CheckedRun(const Program& program, const Plan& plan, const std::vector<VarId>& pinned, Prepared& prepared);

  /// To be called before each step: its inputs are new.
  void begin_step() { seen_.clear(); }
  void before(const Op& op, const KernelArgs& args) override;
  void after(const Op& op, const KernelArgs& args) override;
  void deleted(VarId var) override;
  void carried(const Op& copy, const KernelArgs& args) override;

  /// Hash of all that ops have written into a var so far, by its name.
  const std::map<std::string, std::uint64_t>& hashes() const { return hashes_; }
  /// Of these, views that no op reads: their bytes have not been seen.
  const std::set<std::string>& unread() const { return unread_; }
  /// Hash of each value as its op wrote it last.
  const std::map<VarId, std::uint64_t>& written() const { return written_; }

 private:
  struct Owned {
    std::byte* end;
    VarId value;
  };
  void look_at_view(VarId var, const std::byte* begin);
  void hash(const std::string& key, std::uint64_t value);
  void check_read(const Op& op, VarId var, std::byte* begin);
  void check_write(const Op& op, Tick step, std::byte* begin, std::int64_t bytes, const std::vector<VarId>& replaced);
  bool is_carried_at(VarId value, Tick step) const;
  void bury(Tick step);
  void check_workspace(const Op& op, const KernelArgs& args);
  void claim(VarId var, std::byte* begin);
  void disown(std::byte* begin, std::byte* end);
  std::vector<VarId> replaced_by(const Op& op, const KernelArgs& args, std::size_t slot) const;
  bool is_in_buffers(VarId var) const { return !is_persistable(program_.vars[shown_[var]].kind); }
  std::string text(VarId value) const { return program_.vars[value].name; }

  const Program& program_;
  const Plan& plan_;
  Prepared& prepared_;
  const Liveness live_;
  const std::vector<View> views_;           // by VarId
  std::vector<VarId> shown_;                // by VarId: the value that it is
  std::map<VarId, std::string> copied_as_;  // of a part or a whole that is a view: the name of the op that would copy
  std::set<VarId> seen_;                    // of these: since they were written last
  std::set<std::string> unread_;
  std::vector<Life> lives_;  // of values
  std::map<const Op*, OpTicks> steps_;
  std::vector<CarriedBy> carriers_;     // by VarId
  std::map<std::byte*, Owned> owners_;  // by first byte
  std::map<std::string, std::uint64_t> hashes_;
  std::map<VarId, std::uint64_t> written_;
};

}  // namespace lethe::testing
