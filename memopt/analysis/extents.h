// The bytes that vars and workspaces have in the buffers of a plan, for check_plan.
#pragma once
#include <string>

#include "framework/run/plan.h"
#include "memopt/analysis/held_bytes.h"

namespace lethe {

class Extents {
 public:
  /// Both must outlive it. `alignment`, in bytes, holds for all but parts whose rows lie apart.
  Extents(const Program& program, const Plan& plan, std::int64_t alignment)
      : program_(program), plan_(plan), alignment_(alignment) {}

  /// Fails unless the var has memory, all of it within its buffer.
  Extent of(VarId v) const;
  /// The extent of so many bytes there; `whose` and `what` name them: "the workspace of 'conv2d'".
  Extent of(Place place, std::int64_t bytes, const char* whose, const std::string& what) const {
    return of(place, bytes, whose, what, alignment_);
  }

 private:
  Extent of(Place place, std::int64_t bytes, const char* whose, const std::string& what, std::int64_t alignment) const;

  const Program& program_;
  const Plan& plan_;
  const std::int64_t alignment_;
};

}  // namespace lethe
