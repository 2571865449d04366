#include "kernels/provider.h"

#include "framework/error.h"
#ifdef LETHE_HAS_ONEDNN
#include "kernels/cpu/onednn.h"
#endif

namespace lethe {

namespace {

bool onednn_serves(DType dtype) {
#ifdef LETHE_HAS_ONEDNN
  return dtype == DType::f32 || (dtype == DType::bf16 && onednn_multiplies_bf16());
#else
  (void)dtype;
  return false;
#endif
}

}  // namespace

bool has_onednn() {
#ifdef LETHE_HAS_ONEDNN
  return true;
#else
  return false;
#endif
}

std::string onednn_version() {
#ifdef LETHE_HAS_ONEDNN
  const dnnl_version_t& version = *dnnl_version();
  return message(version.major, '.', version.minor, '.', version.patch);
#else
  return "";
#endif
}

bool uses_onednn(Provider provider, DType dtype) {
  if (provider == Provider::Eigen) return false;
  const bool serves = onednn_serves(dtype);
  check(serves || provider == Provider::Best, "oneDNN does not serve ", name_of(dtype),
        has_onednn() ? "" : " here: it is not built in");
  return serves;
}

bool onednn_has_tiles() {
#ifdef LETHE_HAS_ONEDNN
  return onednn_multiplies_tiles();
#else
  return false;
#endif
}

bool multiplies_on_cpu(DType dtype) { return wide_of(dtype) == dtype || onednn_serves(dtype); }

}  // namespace lethe
