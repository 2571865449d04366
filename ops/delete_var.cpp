// Ends the life of a var's buffer: the executor gives it back to the device. Inserted by release_memory, never by a
// network.
#include "framework/language/op_def.h"
#include "framework/run/prepared.h"

namespace lethe {
namespace {

const Register delete_var{{
    .type = kDeleteVar,
    .inputs = {"x"},
    .outputs = {},
    .infer = [](const InferArgs&) { return std::vector<Type>{}; },
}};

}  // namespace
}  // namespace lethe
