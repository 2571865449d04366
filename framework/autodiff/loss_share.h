// Where backward of a part of a batch begins.
#pragma once
#include "framework/language/program.h"

namespace lethe {

/// What backward of one of so many parts begins with, for append_backward: the share that the part's loss has in that
/// of the batch, times `scale`, if that is given (LossScale::scale).
VarId append_loss_share(Program& program, VarId loss, std::int64_t parts, VarId scale = kNone);

}  // namespace lethe
