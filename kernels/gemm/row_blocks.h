// The gradient of a large weight, c = a^T b, some rows at a time: who reads them finds them in the cache, and they need
// never stand in memory all together.
#pragma once
#include <algorithm>
#include <string>

#include "kernels/gemm/gemm.h"
#include "kernels/workspace.h"

namespace lethe {

/// Before the type of an update that computes its gradient in these blocks (optimizer/product_update.h).
inline constexpr const char* kMatmulUpdate = "matmul_";

/// Whether c is such a product and so large for its k that memory takes longer than arithmetic. On a CPU prepare_gemm
/// computes these in the same blocks, or by tiles that need none, so that the bits are the same.
bool is_in_row_blocks(const GemmShape& shape, DType dtype);
/// Rows of c in each block but the last.
std::int64_t rows_of_block(const GemmShape& shape, DType dtype);

/// The blocks, of `shape` on a CPU.
class RowBlocks {
 public:
  RowBlocks(const GemmShape& shape, DType dtype, const DeviceInfo& device, Provider provider = Provider::Best);

  std::int64_t count() const { return (shape_.m + rows_ - 1) / rows_; }
  std::int64_t first_row(std::int64_t block) const { return block * rows_; }
  /// As many in each block but the last, which may have fewer.
  std::int64_t rows(std::int64_t block) const { return std::min(rows_, shape_.m - first_row(block)); }
  std::int64_t workspace_bytes() const { return layout_.bytes(); }
  std::string implementation() const { return "blocks of rows, " + of_block_->implementation(); }
  /// c: of the block's rows alone.
  void run(std::int64_t block, const void* a, const void* b, void* c, void* workspace) const;

 private:
  const GemmShape shape_;
  const std::int64_t rows_, element_;  // element_: bytes of one of a
  std::unique_ptr<Kernel> of_block_, of_last_;
  WorkspaceLayout layout_;
  WorkspacePart columns_, scratch_;
};

/// c as a whole.
std::unique_ptr<Kernel> prepare_gemm_in_row_blocks(const GemmShape& shape, DType dtype, const DeviceInfo& device,
                                                   Provider provider);

}  // namespace lethe
