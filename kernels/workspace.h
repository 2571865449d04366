// How a workspace is divided: its parts follow each other at aligned offsets.
#pragma once
#include "framework/language/kernel.h"

namespace lethe {

/// What every vector type needs; a CPU's workspace itself is aligned so.
inline constexpr std::int64_t kVectorAlignment = 64;
constexpr std::int64_t aligned(std::int64_t bytes) { return round_up(bytes, kVectorAlignment); }

/// Where it lies.
struct WorkspacePart {
  std::int64_t offset = 0, bytes = 0;
  /// Null if it is empty.
  template <class T = void>
  T* at(const KernelArgs& args) const {
    return bytes > 0 ? reinterpret_cast<T*>(static_cast<char*>(args.workspace) + offset) : nullptr;
  }
};

class WorkspaceLayout {
 public:
  explicit WorkspaceLayout(std::int64_t alignment = kVectorAlignment) : alignment_(alignment) {}
  /// After what was added before.
  WorkspacePart add(std::int64_t bytes) {
    const WorkspacePart part{round_up(bytes_, alignment_), bytes};
    if (bytes > 0) bytes_ = part.offset + bytes;
    return part;
  }
  /// So many elements of T.
  template <class T>
  WorkspacePart add_array(std::int64_t n) {
    return add(n * static_cast<std::int64_t>(sizeof(T)));
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::int64_t alignment_, bytes_ = 0;
};

}  // namespace lethe
