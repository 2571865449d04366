#include "kernels/gemm/gemm.h"

#include "framework/error.h"
#include "kernels/by_kind.h"
#include "kernels/gemm/column_blocks.h"
#include "kernels/gemm/providers.h"
#include "kernels/gemm/row_blocks.h"
#include "kernels/tiles/dots.h"

namespace lethe {

namespace {

/// Whether a product by AVX-512's products of pairs takes less time than oneDNN's: those of few rows by a large factor,
/// and those that add to large sums in f32 (docs/measurements/cpu.md). By the shape alone, so that bits follow from it.
bool is_for_dots(const GemmShape& s) {
  constexpr std::int64_t kFewest = 16, kFew = 256, kLarge = 1 << 19;
  if (s.batch != 1) return false;
  if (s.accumulate && s.wide_c) return s.m * s.n >= kLarge && s.k >= kFewest;
  return !s.transpose_a && s.m >= kFewest && s.m <= kFew && s.k * s.n >= kLarge;
}

std::unique_ptr<Kernel> prepare_gemm_cpu(const GemmShape& shape, DType dtype, const DeviceInfo& device,
                                         Provider provider) {
  const bool in_column_blocks = is_in_column_blocks(shape, dtype);
  check(in_column_blocks || !shape.wide_b, "no product of ", name_of(dtype),
        " by a factor in f32 but in blocks of its columns");
  if (provider == Provider::Best && dtype == DType::bf16 && (has_amx() || (has_fast_dots() && is_for_dots(shape))))
    return prepare_gemm_on_tiles(shape, device.threads);
  if (in_column_blocks) return prepare_gemm_in_column_blocks(shape, dtype, device, provider);
  if (is_in_row_blocks(shape, dtype)) return prepare_gemm_in_row_blocks(shape, dtype, device, provider);
#ifdef LETHE_HAS_ONEDNN
  if (uses_onednn(provider, dtype))
    // Of oneDNN 2.6.3's AMX code some is wrong: a product with k = 63 and 65 to 80 rows ends the process (SIGILL).
    if (auto kernel = prepare_gemm_onednn(shape, dtype, device.threads, may_take_tiles(dtype, false))) return kernel;
#else
  uses_onednn(provider, dtype);
#endif
  if (wide_of(dtype) != dtype) return prepare_gemm_widened(shape, dtype, device);
  return prepare_gemm_eigen(shape, dtype, device.threads);
}

}  // namespace

std::unique_ptr<Kernel> prepare_gemm(const GemmShape& shape, DType dtype, const DeviceInfo& device, Provider provider) {
  const Epilogue& epilogue = shape.epilogue;
  check(!shape.sums_a ||
            (shape.batch == 1 && shape.transpose_a && shape.is_dense() && epilogue.is_empty() && !shape.accumulate),
        "no product with sums but of a dense matrix, transposed");
  check(!epilogue.gelu_grad ||
            (shape.is_dense() && epilogue == Epilogue{.gelu_grad = true} && !shape.wide_c && !shape.accumulate),
        "no gradient of gelu but as all that is done to a dense product");
  return by_kind(
      device.kind, [&] { return prepare_gemm_cublaslt(shape, dtype, device); },
      [&]() -> std::unique_ptr<Kernel> {
        if (shape.sums_a) return nullptr;
        GemmShape plain = shape;
        plain.epilogue = {.bias = epilogue.bias};
        const Epilogue after{.relu = epilogue.relu, .gelu_grad = epilogue.gelu_grad};
        return with_epilogue(prepare_gemm_cpu(plain, dtype, device, provider), after, rows_of_c(shape), dtype, device);
      });
}

}  // namespace lethe
