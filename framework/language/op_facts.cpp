#include "framework/language/op_facts.h"

#include "framework/language/core_ops.h"
#include "framework/language/op_def.h"

namespace lethe {

bool runs_nothing(const Op& op) { return op.type == kDeleteVar || !op.blocks.empty() || op_def(op.type).is_view(); }

bool begins_exchange(const Op& op) {
  return op.type == kAllReduceStart || op.type == kReduceScatterStart || op.type == kAllGatherStart ||
         op.type == kGatherParamsStart;
}

bool exchanges(const Op& op) { return begins_exchange(op) || op_def(op.type).waits; }

}  // namespace lethe
