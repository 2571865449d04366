// Runs a body as long as a condition holds: framework/language/control_flow.h says how; the executor does it itself.
#include "framework/language/control_flow.h"
#include "framework/language/op_def.h"

namespace lethe {
namespace {

const Register while_op{{.type = kWhile, .inputs = {"in..."}, .outputs = {"out..."}}};

}  // namespace
}  // namespace lethe
