// Who may activate on the way.
#pragma once
#include "framework/language/device_info.h"
#include "framework/language/op_def.h"

namespace lethe {

inline bool activates_on(const OpDef& def, DeviceKind device) {
  return def.activates == Activates::Everywhere || (def.activates == Activates::OnGpu && device == DeviceKind::Cuda);
}

}  // namespace lethe
