// What writing text takes, said before there is any.
#pragma once
#include <cstdint>
#include <string>

#include "memopt/planned.h"

namespace lethe {

/// By category, with what `cached` text keeps of all symbols before named, and the predicted line. `planned`: of what
/// runs for each symbol; `bytes`: with what reads a prompt, which takes turns with it.
std::string decode_plan_text(const std::string& network, std::int64_t context, DType dtype, bool cached,
                             const Planned& planned, const Bytes& bytes);

}  // namespace lethe
