// The factor that keeps the norm of all gradients together at most `max_norm`: min(1, max_norm / (norm + 1e-6)), as
// PyTorch's clip_grad_norm_. Sums are in f64 and over fixed chunks, so the same for any number of threads and device.
#include <cmath>
#include <vector>

#include "framework/op_def.h"
#include "kernels/each_device.h"

namespace lethe {
namespace {

constexpr std::int64_t kChunk = 256, kLanes = 8;
constexpr std::int64_t kChunkGrain = kElementGrain / kChunk;

std::int64_t chunks_of(std::int64_t n) { return (n + kChunk - 1) / kChunk; }

struct Square {
  HD double operator()(double x) const { return x * x; }
};
struct Value {
  HD double operator()(double x) const { return x; }
};

/// Chunk c: the sum of f(x[i]) over its elements, in kLanes interleaved sums.
template <class F, class T>
struct ChunkSum {
  const T* x;
  std::int64_t n;
  double* sums;
  HD void operator()(std::int64_t c) const {
    const std::int64_t begin = c * kChunk, end = begin + kChunk < n ? begin + kChunk : n;
    double lanes[kLanes] = {};
    std::int64_t i = begin;
    for (; i + kLanes <= end; i += kLanes)
      for (std::int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += F{}(x[i + lane]);
    for (std::int64_t lane = 0; i < end; ++i, ++lane) lanes[lane] += F{}(x[i]);
    double sum = 0;
    for (const double lane : lanes) sum += lane;
    sums[c] = sum;
  }
};

template <class T>
struct ScaleOfSums {
  const double* sums;
  std::int64_t n;
  double max_norm;
  T* scale;
  HD void operator()(std::int64_t) const {
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += sums[i];
    const double factor = max_norm / (std::sqrt(sum) + 1e-6);
    *scale = static_cast<T>(factor > 1 ? 1 : factor);  // NaN stays NaN
  }
};

struct ClipScale {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    std::vector<std::int64_t> sizes;
    std::int64_t chunks = 0;
    for (const VarId v : args.op.in) {
      sizes.push_back(elements(args.program.vars[v].shape));
      chunks += chunks_of(sizes.back());
    }
    const std::int64_t groups = chunks_of(chunks);
    return for_float(args.out(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      const auto run = [sizes, chunks, groups, max_norm = args.op.attrs.number("max_norm")](const KernelArgs& a) {
        auto* const of_chunks = static_cast<double*>(a.workspace);
        double *next = of_chunks, *const of_groups = of_chunks + chunks;
        for (std::size_t slot = 0; slot < sizes.size(); ++slot) {
          const ChunkSum<Square, T> sum{a.in<T>(static_cast<int>(slot)), sizes[slot], next};
          parallel_for(Device{}, a.stream, chunks_of(sizes[slot]), sum, kChunkGrain);
          next += chunks_of(sizes[slot]);
        }
        parallel_for(Device{}, a.stream, groups, ChunkSum<Value, double>{of_chunks, chunks, of_groups}, kChunkGrain);
        parallel_for(Device{}, a.stream, 1, ScaleOfSums<T>{of_groups, groups, max_norm, a.out<T>(0)});
      };
      return make_kernel(run, (chunks + groups) * std::int64_t{sizeof(double)});
    });
  }
};

const Register clip_scale{{
    .type = "clip_scale",
    .inputs = {"gradients..."},
    .outputs = {"scale"},
    .infer =
        [](const InferArgs& args) {
          check(!args.op.in.empty(), "clip_scale: no gradients given");
          const DType dtype = args.in(0).dtype;
          for (const VarId v : args.op.in)
            check(args.program.vars[v].dtype == dtype, "clip_scale: '", args.program.vars[v].name, "' is ",
                  text_of(args.program.vars[v]), ", the first is of ", name_of(dtype));
          return std::vector<Type>{{Shape{}, dtype}};
        },
    .kernels = each_device<ClipScale>(),
}};

}  // namespace
}  // namespace lethe
