// The transpose of broadcasting: y = x, or x times `factor`, summed over the axes along which `shape` is 1 (all of them
// for a scalar). Deterministic: the order of every sum depends on the shapes alone. Sums are taken in f64.
#include <algorithm>

#include "framework/language/op_def.h"
#include "kernels/dtypes.h"
#include "kernels/each_device.h"

namespace lethe {
namespace {

constexpr std::int64_t kChunk = 1024;  // most elements that one sum takes
constexpr std::int64_t kColumns = 64;  // columns that the CPU sums together

/// Sums the middle axis of [outer, length, inner] by chunks: gives [outer, chunks, inner].
struct Pass {
  std::int64_t outer = 1, length = 1, inner = 1;
  HD std::int64_t chunks() const { return (length + kChunk - 1) / kChunk; }
  HD std::int64_t outputs() const { return outer * chunks() * inner; }
};

/// One pass for each run of summed axes, the last first; more while there is more than one chunk.
std::vector<Pass> passes_of(const Shape& from, const Shape& to) {
  Shape sizes = from;
  std::vector<Pass> passes;
  for (std::size_t end = from.size(); end > 0;) {
    const auto summed = [&](std::size_t axis) { return to.empty() || to[axis] != from[axis]; };
    std::size_t begin = end - 1;
    if (summed(begin)) {
      while (begin > 0 && summed(begin - 1)) --begin;
      const auto first = sizes.begin();
      Pass pass{elements({first, first + begin}), elements({first + begin, first + end}),
                elements({first + end, sizes.end()})};
      for (; pass.length > 1; pass.length = pass.chunks()) passes.push_back(pass);
      std::fill(first + begin, first + end, 1);
    }
    end = begin;
  }
  if (passes.empty()) passes.push_back({1, 1, elements(from)});
  return passes;
}

template <class From, class To>
struct SumIndex {
  Pass pass;
  const From *x, *factor;
  To* y;

  HD double term(std::int64_t at) const {
    return static_cast<double>(factor ? compute(x[at]) * compute(factor[at]) : compute(x[at]));
  }
  /// Output i, on its own.
  HD void operator()(std::int64_t i) const {
    const std::int64_t column = i % pass.inner, row = i / pass.inner;
    double sum = 0;
    for (std::int64_t at = first(row), end = last(row); at < end; ++at) sum += term(at * pass.inner + column);
    y[i] = static_cast<To>(sum);
  }
  /// Outputs [column, column + n) of a row, in step: the same sums in the same order.
  void columns(std::int64_t row, std::int64_t column, std::int64_t n) const {
    double sums[kColumns] = {};
    for (std::int64_t at = first(row), end = last(row); at < end; ++at)
      for (std::int64_t i = 0; i < n; ++i) sums[i] += term(at * pass.inner + column + i);
    for (std::int64_t i = 0; i < n; ++i) y[row * pass.inner + column + i] = static_cast<To>(sums[i]);
  }
  HD std::int64_t first(std::int64_t row) const {
    return row / pass.chunks() * pass.length + row % pass.chunks() * kChunk;
  }
  HD std::int64_t last(std::int64_t row) const {
    const std::int64_t end = row / pass.chunks() * pass.length + pass.length, chunk_end = first(row) + kChunk;
    return chunk_end < end ? chunk_end : end;
  }
};

template <class From, class To>
void run_pass(Cpu, void*, const SumIndex<From, To>& sum) {
  const Pass& pass = sum.pass;
  const std::int64_t blocks = (pass.inner + kColumns - 1) / kColumns, width = std::min(pass.inner, kColumns);
  const std::int64_t work = std::min(pass.length, kChunk) * width;
  const std::int64_t grain = std::max<std::int64_t>(1, kElementGrain / work);
  parallel_ranges(pass.outer * pass.chunks() * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t column = task % blocks * kColumns;
      sum.columns(task / blocks, column, std::min(kColumns, pass.inner - column));
    }
  });
}

#ifdef LETHE_DEVICE_CODE
template <class From, class To>
void run_pass(Cuda, void* stream, const SumIndex<From, To>& sum) {
  parallel_for(Cuda{}, stream, sum.pass.outputs(), sum);
}
#endif

struct SumTo {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    return for_float(args.out(0).dtype, [&](auto zero) {
      using T = decltype(zero);
      using C = Compute<T>;  // of what stands between passes
      const std::vector<Pass> passes = passes_of(args.in(0).shape, args.out(0).shape);
      // What lies between passes alternates between two places, each as large as the first that stands there.
      const auto between = [&](std::size_t pass) { return pass + 1 < passes.size() ? passes[pass].outputs() : 0; };
      const std::int64_t second = (between(0) + 15) / 16 * 16;
      const bool has_factor = args.has_in(1);
      const auto run = [passes, second, has_factor](const KernelArgs& a) {
        const auto sum = [&](std::size_t pass, const auto* x, const auto* factor) {
          using From = std::remove_const_t<std::remove_pointer_t<decltype(x)>>;
          C* const place = static_cast<C*>(a.workspace) + (pass % 2 ? second : 0);
          if (pass + 1 == passes.size())
            run_pass(Device{}, a.stream, SumIndex<From, T>{passes[pass], x, factor, a.out<T>(0)});
          else
            run_pass(Device{}, a.stream, SumIndex<From, C>{passes[pass], x, factor, place});
          return place;
        };
        const C* x = sum(0, a.in<T>(0), has_factor ? a.in<T>(1) : nullptr);
        for (std::size_t pass = 1; pass < passes.size(); ++pass) x = sum(pass, x, static_cast<const C*>(nullptr));
      };
      return make_kernel(run, (second + between(1)) * static_cast<std::int64_t>(sizeof(C)));
    });
  }
};

std::vector<Type> infer_sum_to(const InferArgs& args) {
  const Shape &from = args.in(0).shape, &to = args.op.attrs.ints("shape");
  bool fits = to.empty() || to.size() == from.size();
  for (std::size_t axis = 0; fits && axis < to.size(); ++axis) fits = to[axis] == from[axis] || to[axis] == 1;
  check(fits, "sum_to: shape ", text_of(from), " does not sum to ", text_of(to));
  if (args.has_in(1))
    check(args.in(1).shape == from && args.in(1).dtype == args.in(0).dtype, "sum_to: factor is ", text_of(args.in(1)),
          ", expected ", text_of(args.in(0)));
  return {{to, args.in(0).dtype}};
}

const Register sum_to{{
    .type = "sum_to",
    .inputs = {"x", "factor?"},
    .outputs = {"y"},
    .infer = infer_sum_to,
    .kernels = each_device<SumTo>(),
}};

}  // namespace
}  // namespace lethe
