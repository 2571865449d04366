// Runs one of two blocks, as a condition says: framework/control_flow.h says how; the executor does it itself.
#include "framework/control_flow.h"
#include "framework/op_def.h"

namespace lethe {
namespace {

const Register if_op{{.type = kIf, .inputs = {"condition", "in..."}, .outputs = {"out..."}}};

}  // namespace
}  // namespace lethe
