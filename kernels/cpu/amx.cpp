#include "kernels/cpu/amx.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace lethe {

bool has_amx() {
#if defined(__x86_64__) && defined(__linux__)
  static const bool found = [] {
    constexpr unsigned kLeaf = 7, kBf16 = 1U << 22, kTiles = 1U << 24;  // of EDX
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid_count(kLeaf, 0, &a, &b, &c, &d) || (d & (kBf16 | kTiles)) != (kBf16 | kTiles)) return false;
    constexpr long kAskForState = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
    return syscall(SYS_arch_prctl, kAskForState, kTileData) == 0;
  }();
  return found;
#else
  return false;
#endif
}

}  // namespace lethe
