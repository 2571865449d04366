#include "framework/autodiff/loss_share.h"

#include "framework/error.h"
#include "framework/language/op_def.h"

namespace lethe {

VarId append_loss_share(Program& program, VarId loss, std::int64_t parts, VarId scale) {
  const double share = 1 / static_cast<double>(parts);
  const std::string name = program.vars[loss].name + "@GRAD";
  const auto append = [&](const char* type, std::vector<VarId> in, const Attrs& attrs) {
    return append_op(program, 0, Role::Backward, type, std::move(in), attrs, name).front();
  };
  if (scale != kNone) return append(kScale, {scale}, {{"a", share}, {"b", 0.0}});
  return append(kFillConstant, {},
                {{"shape", Ints{}}, {"dtype", std::string(name_of(program.vars[loss].dtype))}, {"value", share}});
}

}  // namespace lethe
