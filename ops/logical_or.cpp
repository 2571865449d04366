// y = a or b, of truth values; b may broadcast.
#include "framework/builder/layer_call.h"
#include "kernels/compare.h"

namespace lethe {
namespace {

struct Or {
  HD std::uint8_t operator()(std::uint8_t a, std::uint8_t b) const { return a != 0 || b != 0; }
};

const Register logical_or{{
    .type = "logical_or",
    .inputs = {"a", "b"},
    .outputs = {"y"},
    .infer = infer_logic,
    .inplace = {{.in = 0, .out = 0}, {.in = 1, .out = 0}},
    .kernels = map_pairs<Or, Flags>(),
    .layer = {.name = "logical_or",
              .aliases = {"Or"},
              .min_inputs = 2,
              .max_inputs = 2,
              .build = [](LayerCall& c) { return emit_pairs(c, "logical_or", Commutes::Yes); },
              .help = "1 where an input is true"},
}};

}  // namespace
}  // namespace lethe
