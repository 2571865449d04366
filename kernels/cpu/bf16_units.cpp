#include "kernels/cpu/bf16_units.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace lethe {

#if defined(__x86_64__) && defined(__linux__)
namespace {

constexpr unsigned kBf16Tiles = 1U << 22, kTiles = 1U << 24, kAvx512Fp16 = 1U << 23;

/// What CPUID has in EDX of leaf 7.
unsigned extended_features() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) ? d : 0;
}

bool is_by_intel() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0, &a, &b, &c, &d) && b == signature_INTEL_ebx && c == signature_INTEL_ecx;
}

}  // namespace

bool has_amx() {
  static const bool found = [] {
    if ((extended_features() & (kBf16Tiles | kTiles)) != (kBf16Tiles | kTiles)) return false;
    constexpr long kAskForState = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
    return syscall(SYS_arch_prctl, kAskForState, kTileData) == 0;
  }();
  return found;
}

bool has_slow_bf16() {
  static const bool found = is_by_intel() && (extended_features() & kAvx512Fp16) != 0;
  return found;
}
#else
bool has_amx() { return false; }
bool has_slow_bf16() { return false; }
#endif

bool has_fast_dots() {
#ifdef __AVX512BF16__
  return !has_slow_bf16();
#else
  return false;
#endif
}

}  // namespace lethe
