// Which vars lie in the memory of others, and where in it. A view is no copy: an op without a kernel says that a var is
// another one under a new shape (reshape), a range of it (slice_view), or that the inputs are its ranges, written there
// by whoever makes them (concat_view).
#pragma once
#include <optional>
#include <vector>

#include "framework/language/op_def.h"
#include "framework/language/strides.h"

namespace lethe {

/// A var that lies in another one.
struct Shown {
  VarId var, in;
  std::int64_t offset;  // bytes from the begin of the one to that of the other
};
/// What an op that is a view says: of its output, or of each of its inputs. Empty for all other ops.
std::vector<Shown> shown_by(const Program& program, const Op& op);

/// Where a var lies. Its rows are `Var::pitch` elements apart.
struct View {
  VarId root = kNone;       // whose memory it is: itself, but for views
  std::int64_t offset = 0;  // bytes from the begin of that
  bool operator==(const View&) const = default;
};
/// Where vars lie while it is found out.
class Roots {
 public:
  /// Of so many vars, each of which is its own root.
  explicit Roots(std::size_t vars);
  /// The root of `shown.var` moves with all that lies in it. False, and nothing moves, if both have one root.
  bool add(const Shown& shown);
  View find(VarId v);

 private:
  std::vector<View> of_;  // by VarId: what it lies in directly
};
/// With all views of the program.
Roots roots_of(const Program& program);

/// By VarId.
std::vector<View> views_of(const Program& program);
/// By VarId: the roots alone.
std::vector<VarId> view_root(const Program& program);

/// The pitch that a range of `whole` along an axis, of shape `part`, has as a view; 0: its rows lie side by side.
/// Nothing if it is no view: its rows are not equally far from each other.
std::optional<std::int64_t> pitch_of_part(const Var& whole, const Shape& part, std::size_t axis);

/// Fails unless what a view says can be: the vars lie within each other with equal distances.
void check_view(const Program& program, const Op& op);

}  // namespace lethe
