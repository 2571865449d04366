// Kernels that ask other ranks, which the processor does, whatever the device is.
#pragma once
#include <cstddef>
#include <cstring>
#include <memory>

#include "framework/error.h"
#include "framework/kernel.h"
#include "framework/peers.h"

namespace lethe {

inline Peers& peers_of(const KernelArgs& args) {
  check_as(Exit::Internal, args.peers != nullptr, "a program of several ranks runs on a device without any");
  return *args.peers;
}

/// Output 0 becomes input 0, of so many bytes, unless it is in its memory.
inline void copy_unless_same(const KernelArgs& args, std::int64_t bytes) {
  if (args.inputs[0] != args.outputs[0]) std::memcpy(args.outputs[0], args.inputs[0], static_cast<std::size_t>(bytes));
}

/// On a GPU they are planned and cannot run yet.
constexpr Kernels peers_kernels(PrepareKernel prepare) { return {.cpu = prepare, .cuda = prepare}; }

/// Of what waits for what input 0 belongs to.
inline Kernels finish_kernels() {
  return peers_kernels([](const PrepareArgs& args) {
    return make_kernel([type = args.op.type, bytes = bytes_of(args.in(0))](const KernelArgs& a) {
      with_context(type, [&] { peers_of(a).finish(a.inputs[0]); });
      copy_unless_same(a, bytes);
    });
  });
}

}  // namespace lethe
