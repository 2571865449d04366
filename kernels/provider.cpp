#include "kernels/provider.h"

#include "framework/error.h"

namespace lethe {

bool has_onednn() {
#ifdef LETHE_HAS_ONEDNN
  return true;
#else
  return false;
#endif
}

bool means_onednn(Provider provider, DType dtype) {
  if (provider == Provider::Eigen) return false;
  const bool serves = has_onednn() && dtype == DType::f32;
  check(serves || provider == Provider::Best, "oneDNN does not serve ", name_of(dtype),
        has_onednn() ? "" : " here: it is not built in");
  return serves;
}

}  // namespace lethe
