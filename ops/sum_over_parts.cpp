// y = the sum of x over all parts of a batch: where in_parts (framework/ranks/micro_batches.h) finds it, it lets all
// parts come so far and writes their sum instead. A batch that is one part has its own x.
#include "framework/language/op_def.h"

namespace lethe {
namespace {

const Register sum_over_parts{{
    .type = kSumOverParts,
    .inputs = {"x"},
    .outputs = {"y"},
    .infer = same_as_first,
    .view = ViewOf::Whole,
}};

}  // namespace
}  // namespace lethe
