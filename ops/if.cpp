// Runs one of two blocks, as a condition says: framework/language/control_flow.h says how; the executor does it itself.
#include "framework/language/control_flow.h"
#include "framework/language/op_def.h"

namespace lethe {
namespace {

const Register if_op{{.type = kIf, .inputs = {"condition", "in..."}, .outputs = {"out..."}}};

}  // namespace
}  // namespace lethe
