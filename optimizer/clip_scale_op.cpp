// What updates multiply gradients by. Clipping keeps the norm of all together at most `max_norm` (0: no limit):
// min(1, max_norm / (norm + 1e-6)), as PyTorch's clip_grad_norm_. Of gradients of a scaled loss it is that over the
// scale, and 0 if any is infinite or NaN: the step is to be skipped. Without a scale such gradients give NaN. Sums are
// in f64, of fixed chunks in a fixed order, and what std::fma fuses is fused everywhere: the same for any number of
// threads and device. Whoever has not all gradients at once, a rank that is to have a share of them alone (--zero) or a
// first pass of two (memopt/passes/two_passes.h), takes their sums by chunk by square_sums and lets the gradients go;
// clip_scale adds these sums in the same order.
#include <cmath>
#include <tuple>
#include <vector>

#include "framework/language/op_def.h"
#include "kernels/dtypes.h"
#include "kernels/reduce/lane_sums.h"
#include "kernels/workspace.h"

namespace lethe {
namespace {

constexpr std::int64_t kNormChunk = 1024;
constexpr std::int64_t kChunkGrain = kElementGrain / kNormChunk;

std::int64_t chunks_of(std::int64_t n) { return (n + kNormChunk - 1) / kNormChunk; }

struct AddSquare {
  template <class T>
  HD double operator()(double sum, T x) const {
    const double value = compute(x);
    return std::fma(value, value, sum);
  }
};
struct AddValue {
  HD double operator()(double sum, double x) const { return sum + x; }
};

/// Chunk c: the sum of its elements.
template <class Add, class T>
struct ChunkSum {
  const T* x;
  std::int64_t n;
  double* sums;
  template <class Team>
  HD void operator()(const Team& team, std::int64_t c) const {
    const std::int64_t begin = c * kNormChunk, left = n - begin;
    const double sum = team.sum(x + begin, left < kNormChunk ? left : kNormChunk, Add{});
    if (team.leads()) sums[c] = sum;
  }
};

template <class T>
struct ScaleOfSums {
  const double* sums;
  std::int64_t n;
  double max_norm;
  const T* loss_scale;  // null: 1
  T* scale;
  template <class Team>
  HD void operator()(const Team& team, std::int64_t) const {
    const double sum = team.sum(sums, n, AddValue{});
    if (!team.leads()) return;
    const double unscale = loss_scale ? 1 / static_cast<double>(*loss_scale) : 1;
    const double factor = max_norm / std::fma(std::sqrt(sum), unscale, 1e-6);
    if (sum - sum != 0)  // infinite or NaN
      *scale = loss_scale ? T(0) : static_cast<T>(sum - sum);
    else
      *scale = static_cast<T>(max_norm > 0 && factor < 1 ? factor * unscale : unscale);
  }
};

struct CopySum {
  const double* from;
  double* to;
  HD void operator()(std::int64_t i) const { to[i] = from[i]; }
};

constexpr const char* kSquareSums = "square_sums";
constexpr const char* kDType = "dtype";  // of the scale, where sums by chunk are given instead of gradients
bool takes_sums(const Op& op) { return op.attrs.has(kDType); }

struct SquareSums {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    return for_float(args.in(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      return make_kernel([n = elements(args.in(0).shape)](const KernelArgs& a) {
        const ChunkSum<AddSquare, T> sums{a.in<T>(0), n, a.out<double>(0)};
        for_each_warp(Device{}, a.stream, chunks_of(n), sums, kChunkGrain);
      });
    });
  }
};

std::vector<VarId> gradients_of(const Op& op) { return {op.in.begin() + 1, op.in.end()}; }

/// Sums of squares by chunk, of gradients of several dtypes.
template <class Device>
class SquaresOfAll {
 public:
  explicit SquaresOfAll(void* stream)
      : launches_(Of<float>(stream, kChunkGrain), Of<double>(stream, kChunkGrain), Of<Bf16>(stream, kChunkGrain),
                  Of<F16>(stream, kChunkGrain)) {}
  void add(DType dtype, const void* gradient, std::int64_t n, double* sums) {
    for_float(dtype, [&](auto zero) {
      using T = decltype(zero);
      std::get<Of<T>>(launches_).add(chunks_of(n), {static_cast<const T*>(gradient), n, sums});
    });
  }
  void flush() {
    std::apply([](auto&... each) { (each.flush(), ...); }, launches_);
  }

 private:
  template <class T>
  using Of = WarpLaunches<Device, ChunkSum<AddSquare, T>>;
  std::tuple<Of<float>, Of<double>, Of<Bf16>, Of<F16>> launches_;
};

struct ClipScale {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    std::vector<std::int64_t> sizes;
    std::vector<DType> dtypes;
    std::int64_t chunks = 0;
    for (const VarId v : gradients_of(args.op)) {
      sizes.push_back(elements(args.program.vars[v].shape));
      dtypes.push_back(args.program.vars[v].dtype);
      chunks += takes_sums(args.op) ? sizes.back() : chunks_of(sizes.back());
    }
    const std::int64_t groups = chunks_of(chunks);
    WorkspaceLayout layout;
    const WorkspacePart chunk_sums = layout.add_array<double>(chunks), group_sums = layout.add_array<double>(groups);
    return for_wide(args.out(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      const bool scaled = args.has_in(0);
      const auto run = [sizes, dtypes, chunks, groups, chunk_sums, group_sums, scaled, sums_given = takes_sums(args.op),
                        max_norm = args.op.attrs.number("max_norm")](const KernelArgs& a) {
        double *const of_chunks = chunk_sums.at<double>(a), *const of_groups = group_sums.at<double>(a);
        double* next = of_chunks;
        SquaresOfAll<Device> sums(a.stream);
        for (std::size_t slot = 0; slot < sizes.size(); ++slot) {
          if (sums_given) {
            parallel_for(Device{}, a.stream, sizes[slot], CopySum{a.in<double>(static_cast<int>(slot) + 1), next});
            next += sizes[slot];
            continue;
          }
          sums.add(dtypes[slot], a.inputs[slot + 1], sizes[slot], next);
          next += chunks_of(sizes[slot]);
        }
        sums.flush();
        for_each_warp(Device{}, a.stream, groups, ChunkSum<AddValue, double>{of_chunks, chunks, of_groups},
                      kChunkGrain);
        for_each_warp(Device{}, a.stream, 1,
                      ScaleOfSums<T>{of_groups, groups, max_norm, scaled ? a.in<T>(0) : nullptr, a.out<T>(0)});
      };
      return make_kernel(run, layout.bytes());
    });
  }
};

constexpr AllGradients kAllGradients{.why_wait = [](const Op& op) -> const char* {
                                       if (takes_sums(op)) return nullptr;
                                       return op.in[0] == kNone ? "clipping by the global norm"
                                                                : "skipping a step whose gradients overflow";
                                     },
                                     .digest = kSquareSums};

const Register clip_scale{{
    .type = "clip_scale",
    .inputs = {"loss_scale?", "gradients..."},
    .outputs = {"scale"},
    .infer =
        [](const InferArgs& args) {
          check(args.op.in.size() > 1, "clip_scale: no gradients given");
          const bool sums = takes_sums(args.op);
          const DType given = args.in(1).dtype, dtype = sums ? dtype_named(args.op.attrs.text(kDType)) : wide_of(given);
          check(!sums || given == DType::f64, "clip_scale: sums are of ", name_of(given), ", expected f64");
          check_input(args, 0, {Shape{}, dtype});
          for (const VarId v : gradients_of(args.op))
            check(wide_of(args.program.vars[v].dtype) == wide_of(given), "clip_scale: '", args.program.vars[v].name,
                  "' is ", text_of(args.program.vars[v]), ", the first is of ", name_of(given));
          return std::vector<Type>{{Shape{}, dtype}};
        },
    .all_gradients = &kAllGradients,
    .kernels = each_device<ClipScale>(),
}};

const Register square_sums{{
    .type = kSquareSums,
    .inputs = {"x"},
    .outputs = {"sums"},
    .infer = [](const InferArgs& args) -> std::vector<Type> {
      return {{{chunks_of(elements(args.in(0).shape))}, DType::f64}};
    },
    .kernels = each_device<SquareSums>(),
}};

}  // namespace
}  // namespace lethe
