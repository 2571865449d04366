// db[c] = the sum of dy[..., c] over all other axes: the gradient of a bias.
#include <algorithm>

#include "framework/error.h"
#include "framework/op_def.h"
#include "kernels/dtypes.h"
#include "kernels/reduce/sums.h"
#include "kernels/workspace.h"

namespace lethe {
namespace {

constexpr std::int64_t kChunkRows = 256, kBlockColumns = 64;

/// On the CPU chunks of rows are summed in Compute<T> and the chunks' sums in double, a run of chunks a worker; then
/// the workers' sums, in their order.
template <class T>
class ColumnSums final : public Kernel {
 public:
  ColumnSums(std::int64_t rows, std::int64_t columns, int threads)
      : rows_(rows),
        columns_(columns),
        chunks_((rows + kChunkRows - 1) / kChunkRows),
        pieces_(std::min<std::int64_t>(threads, chunks_)) {}

  std::int64_t workspace_bytes() const override { return pieces_ * sum_bytes(); }

  void run(const KernelArgs& args) const override {
    parallel_ranges(pieces_, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t piece = begin; piece < end; ++piece) {
        double* sums = sums_of(args, piece);
        std::fill_n(sums, columns_, 0.0);
        for (std::int64_t chunk = chunks_ * piece / pieces_; chunk < chunks_ * (piece + 1) / pieces_; ++chunk)
          add_chunk(args.in<T>(0), chunk * kChunkRows, std::min(rows_, (chunk + 1) * kChunkRows), sums);
      }
    });
    for (std::int64_t c = 0; c < columns_; ++c) {
      double total = 0;
      for (std::int64_t piece = 0; piece < pieces_; ++piece) total += sums_of(args, piece)[c];
      args.out<T>(0)[c] = static_cast<T>(total);
    }
  }

 private:
  std::int64_t sum_bytes() const { return aligned(columns_ * std::int64_t{sizeof(double)}); }
  double* sums_of(const KernelArgs& args, std::int64_t piece) const {
    return reinterpret_cast<double*>(static_cast<char*>(args.workspace) + piece * sum_bytes());
  }

  void add_chunk(const T* dy, std::int64_t begin, std::int64_t end, double* sums) const {
    for (std::int64_t first = 0; first < columns_; first += kBlockColumns) {
      const std::int64_t width = std::min(kBlockColumns, columns_ - first);
      Compute<T> sum[kBlockColumns] = {};
      std::int64_t row = begin;
      for (; row + 4 <= end; row += 4) {  // four rows at a time: a quarter of the dependent additions
        const T* d = dy + row * columns_ + first;
        for (std::int64_t c = 0; c < width; ++c)
          sum[c] += (d[c] + d[columns_ + c]) + (d[2 * columns_ + c] + d[3 * columns_ + c]);
      }
      for (; row < end; ++row)
        for (std::int64_t c = 0; c < width; ++c) sum[c] += dy[row * columns_ + first + c];
      for (std::int64_t c = 0; c < width; ++c) sums[first + c] += static_cast<double>(sum[c]);
    }
  }

  std::int64_t rows_, columns_, chunks_, pieces_;
};

struct PrepareBiasGrad {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    const std::int64_t columns = args.out(0).shape[0], rows = elements(args.in(0).shape) / columns;
    return for_float(args.out(0).dtype, [&](auto zero) -> std::unique_ptr<Kernel> {
      using T = decltype(zero);
      if constexpr (std::is_same_v<Device, Cpu>) {
        return std::make_unique<ColumnSums<T>>(rows, columns, args.device.threads);
      } else {
        const SumPlan plan = plan_sum(Device{}, args.device, {.middle = rows, .inner = columns}, args.in(0).dtype);
        const auto run = [plan](const KernelArgs& a) { scaled_sum(Device{}, a, plan, 1.0, a.in<T>(0), a.out<T>(0)); };
        return make_kernel(run, sum_workspace(plan, 1));
      }
    });
  }
};

std::vector<Type> infer(const InferArgs& args) {
  const Var& dy = args.in(0);
  check(!dy.shape.empty(), "bias_grad: dy is a scalar, expected columns");
  return {{{dy.shape.back()}, dy.dtype}};
}

const Register bias_grad{{
    .type = "bias_grad",
    .inputs = {"dy"},
    .outputs = {"db"},
    .infer = infer,
    .kernels = each_device<PrepareBiasGrad>(),
}};

}  // namespace
}  // namespace lethe
