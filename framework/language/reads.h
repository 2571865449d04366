// How often vars are read.
#pragma once
#include <vector>

#include "framework/language/program.h"

namespace lethe {

/// By VarId: by ops and as the result of a block.
std::vector<int> reads_of(const Program& program);

}  // namespace lethe
