// y = the sum of x over all ranks (framework/ranks/peers.h), in two halves: between them other ops run. What is under
// way, and the room that it takes, are outputs of the one and inputs of the other, so nothing else is put into their
// memory.
#include "framework/error.h"
#include "framework/language/op_def.h"
#include "framework/ranks/peers.h"
#include "kernels/peers_of.h"

namespace lethe {
namespace {

const Register all_reduce_start{{
    .type = kAllReduceStart,
    .inputs = {"x"},
    .outputs = {"pending", "room"},
    .infer = sum_under_way,
    .inplace = {{.in = 0, .out = 0}},
    .kernels = each_device<StartSum<&Peers::start_sum>>(),
}};

const Register all_reduce_wait{{
    .type = kAllReduceWait,
    .inputs = {"pending", "room"},
    .outputs = {"y"},
    .infer = same_as_first,
    .inplace = {{.in = 0, .out = 0}},
    .waits = true,
    .kernels = each_device<FinishPeers>(),
}};

}  // namespace
}  // namespace lethe
