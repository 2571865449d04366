#include <algorithm>

#include "framework/error.h"
#include "kernels/cpu/parallel.h"
#include "kernels/gemm/block.h"
#include "kernels/gemm/providers.h"

namespace lethe {
namespace {

/// Multiply-adds that are worth a thread.
constexpr std::int64_t kGrain = 1 << 16;

/// The larger side of each c is cut into `cuts` parts; a worker takes a run of (batch, part) pairs. Each element of c
/// is summed by one thread.
template <class T>
class EigenGemm final : public Kernel {
 public:
  EigenGemm(const GemmShape& shape, int threads)
      : shape_(shape),
        cuts_(cuts_for(shape, threads)),
        pieces_(std::min<std::int64_t>(threads, shape.batch * cuts_)),
        part_m_(by_rows() ? part(shape.m, cuts_) : shape.m),
        part_n_(by_rows() ? shape.n : part(shape.n, cuts_)),
        product_(part_m_, part_n_, shape.k) {}

  std::int64_t workspace_bytes() const override { return pieces_ * product_.packing_bytes(); }
  std::string implementation() const override { return "Eigen"; }

  void run(const KernelArgs& args) const override {
    parallel_ranges(pieces_, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t piece = begin; piece < end; ++piece) run_piece(args, piece);
    });
  }

 private:
  static std::int64_t cuts_for(const GemmShape& s, int threads) {
    if (s.batch >= threads) return 1;
    return std::clamp<std::int64_t>(s.m * s.n * s.k / kGrain, 1, threads);
  }
  static std::int64_t part(std::int64_t size, std::int64_t cuts) { return (size + cuts - 1) / cuts; }
  bool by_rows() const { return shape_.m >= shape_.n; }

  void run_piece(const KernelArgs& args, std::int64_t piece) const {
    char* const packing = static_cast<char*>(args.workspace) + piece * product_.packing_bytes();
    const std::int64_t items = shape_.batch * cuts_;
    for (std::int64_t item = items * piece / pieces_; item < items * (piece + 1) / pieces_; ++item)
      run_part(args, item / cuts_, item % cuts_, packing);
  }

  void run_part(const KernelArgs& args, std::int64_t batch, std::int64_t index, void* packing) const {
    const GemmShape& s = shape_;
    const std::int64_t row = by_rows() ? index * part_m_ : 0, column = by_rows() ? 0 : index * part_n_;
    const std::int64_t rows = std::min(part_m_, s.m - row), columns = std::min(part_n_, s.n - column);
    if (rows <= 0 || columns <= 0) return;
    const T* a = args.in<T>(0) + batch * s.m * s.k + (s.transpose_a ? row : row * s.row_a());
    const T* b = args.in<T>(1) + batch * s.k * s.n + (s.transpose_b ? column * s.row_b() : column);
    T* c = args.out<T>(0) + batch * s.m * s.n + row * s.row_c() + column;
    for (std::int64_t r = 0; r < rows && !s.accumulate; ++r) {
      if (s.epilogue.bias)
        std::copy_n(args.in<T>(2) + column, columns, c + r * s.row_c());
      else
        std::fill_n(c + r * s.row_c(), columns, T(0));
    }
    product_.add(rows, columns, s.k, {a, s.row_a(), s.transpose_a}, {b, s.row_b(), s.transpose_b}, c, s.row_c(),
                 packing);
  }

  GemmShape shape_;
  std::int64_t cuts_, pieces_, part_m_, part_n_;
  BlockProduct<T> product_;
};

}  // namespace

std::unique_ptr<Kernel> prepare_gemm_eigen(const GemmShape& shape, DType dtype, int threads) {
  if (dtype == DType::f64) return std::make_unique<EigenGemm<double>>(shape, threads);
  check(dtype == DType::f32, "no product for dtype ", name_of(dtype));
  return std::make_unique<EigenGemm<float>>(shape, threads);
}

}  // namespace lethe
