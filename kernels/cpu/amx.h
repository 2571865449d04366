// Whether there is AMX.
#pragma once

namespace lethe {

/// Whether the processor multiplies tiles of bf16, Linux lets this process use them, and this build can.
bool has_amx();

}  // namespace lethe
