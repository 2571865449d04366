#include "kernels/provider.h"

#include "framework/error.h"
#include "kernels/cpu/amx.h"
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

bool may_take_tiles(DType dtype, bool trusted) { return trusted || dtype != DType::bf16 || !onednn_has_tiles(); }

std::string cpu_provider() {
  if (!has_onednn())
    return message("Eigen; bf16", has_amx() ? " multiplied by AMX in products and attention; else it" : "",
                   " and f16 widened to f32");
  const char* const by = onednn_has_tiles()           ? "multiplied by AMX, in convolutions where trusted"
                         : onednn_serves(DType::bf16) ? "multiplied by AVX-512"
                                                      : "widened to f32";
  return message("oneDNN ", onednn_version(), "; bf16 ", by);
}

bool multiplies_on_cpu(DType dtype) { return wide_of(dtype) == dtype || onednn_serves(dtype); }

}  // namespace lethe
