#include "framework/autodiff/erase_vars.h"

#include "framework/language/erase_vars.h"

namespace lethe {

void erase_vars(Program& program, const std::vector<bool>& gone, std::vector<ParamGrad>& gradients) {
  const std::vector<VarId> ids = erase_vars(program, gone);
  for (ParamGrad& pair : gradients) pair = {ids[pair.param], ids[pair.grad]};
}

}  // namespace lethe
