#include "kernels/gemm/cuda_launches.h"

#include "kernels/gemm/epilogue_index.h"

namespace lethe {

void launch_epilogue(void* stream, DType dtype, std::int64_t rows, std::int64_t columns, const void* bias, bool relu,
                     void* y) {
  apply_epilogue(Cuda{}, stream, dtype, rows, columns, bias, relu, y);
}

}  // namespace lethe
