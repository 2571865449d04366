#include "kernels/provider.h"

#include "framework/error.h"
#include "kernels/cpu/bf16_units.h"
#ifdef LETHE_HAS_ONEDNN
#include "kernels/cpu/onednn.h"
#endif

namespace lethe {

namespace {

/// Whether bf16 is multiplied faster once it is widened to f32.
bool is_bf16_slow() { return !onednn_has_tiles() && has_slow_bf16(); }

const char* how_bf16_is_multiplied() {
  if (onednn_has_tiles()) return "multiplied by AMX, in convolutions where trusted";
  if (!onednn_serves(DType::bf16)) return "widened to f32";
  return is_bf16_slow() ? "widened to f32, which AVX-512 multiplies twice as fast here" : "multiplied by AVX-512";
}

}  // namespace

bool onednn_serves(DType dtype) {
#ifdef LETHE_HAS_ONEDNN
  return dtype == DType::f32 || (dtype == DType::bf16 && onednn_multiplies_bf16());
#else
  (void)dtype;
  return false;
#endif
}

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
  check(onednn_serves(dtype) || provider == Provider::Best, "oneDNN does not serve ", name_of(dtype),
        has_onednn() ? "" : " here: it is not built in");
  return onednn_serves(dtype) && (provider != Provider::Best || dtype != DType::bf16 || !is_bf16_slow());
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
    return message("Eigen; bf16",
                   has_amx()         ? " multiplied by AMX in products and attention; else it"
                   : has_fast_dots() ? " multiplied by AVX-512 in attention and products of some shapes; else it"
                                     : "",
                   " and f16 widened to f32");
  return message("oneDNN ", onednn_version(), "; bf16 ", how_bf16_is_multiplied());
}

bool multiplies_on_cpu(DType dtype) { return wide_of(dtype) == dtype || uses_onednn(Provider::Best, dtype); }

}  // namespace lethe
