// What the op table says of one op in a program.
#pragma once
#include "framework/language/program.h"

namespace lethe {

/// Whether an op runs no kernel: views, and what the executor does itself.
bool runs_nothing(const Op& op);
/// Whether an op begins an exchange: all its outputs are under way until an op that waits (OpDef::waits) takes them as
/// its inputs, so whoever reads or writes them in between meets anything. Each begins and ends once, in the same order
/// on all ranks: such an op is never repeated.
bool begins_exchange(const Op& op);
/// Whether it begins or ends one.
bool exchanges(const Op& op);

}  // namespace lethe
