#include "tests/support/odd_shapes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "framework/error.h"
#include "tests/support/conv_products.h"
#include "tests/support/random_values.h"
#include "tests/support/values.h"

namespace lethe::testing {
namespace {

/// 2e-38, 3e38 and -2e38 in f32 and bf16. None is 0 or NaN, which a kernel might hide.
constexpr std::byte kFills[] = {std::byte{0x01}, std::byte{0x7f}, std::byte{0xfe}};

/// What malloc gives while it lives, as far as glibc lets us say.
class Malloced {
 public:
  explicit Malloced(std::byte fill) { set(~std::to_integer<int>(fill) & 0xff); }
  ~Malloced() { set(0); }
  Malloced(const Malloced&) = delete;

 private:
  static void set([[maybe_unused]] int complement) {
#ifdef __GLIBC__
    mallopt(M_PERTURB, complement);
#endif
  }
};

/// Numbers with rubbish before and after them.
class Surrounded {
 public:
  Surrounded(std::int64_t bytes, std::byte fill)
      : bytes_(static_cast<std::size_t>(bytes)), fill_(fill), memory_(bytes_ + 2 * kMargin + kAlignment, fill) {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory_.data());
    front_ = kMargin + (kAlignment - (begin + kMargin) % kAlignment) % kAlignment;
  }
  void* data() { return memory_.data() + front_; }
  bool intact() const {
    const auto is_fill = [this](std::byte b) { return b == fill_; };
    return std::all_of(memory_.begin(), memory_.begin() + front_, is_fill) &&
           std::all_of(memory_.begin() + front_ + bytes_, memory_.end(), is_fill);
  }

 private:
  static constexpr std::size_t kMargin = 8192, kAlignment = 64;
  std::size_t bytes_, front_;
  std::byte fill_;
  std::vector<std::byte> memory_;
};

/// Values that the dtype has.
void add_input(Expected& expected, std::int64_t count) {
  std::vector<double> values = random_values<double>(count, static_cast<unsigned>(expected.inputs.size() + 1));
  for (double& value : values) {
    double stored = 0;
    set_number(expected.dtype, &stored, 0, value);
    value = number_at(expected.dtype, &stored, 0);
  }
  expected.inputs.push_back(std::move(values));
}
void set_outputs(Expected& expected, std::int64_t count) {
  expected.values.assign(static_cast<std::size_t>(count), 0);
  expected.magnitudes = expected.values;
}
void add(Expected& expected, std::int64_t at, double term) {
  expected.values[static_cast<std::size_t>(at)] += term;
  expected.magnitudes[static_cast<std::size_t>(at)] += std::abs(term);
}

using MakeKernel = std::function<std::unique_ptr<Kernel>()>;
struct Result {
  std::vector<std::byte> bytes;
  std::string wrong;
};

Result run_over(std::byte fill, const Expected& expected, const MakeKernel& make, std::string& code) {
  const Malloced malloced(fill);
  const auto kernel = make();
  if (!kernel) return {};
  code = kernel->implementation();
  std::vector<Surrounded> inputs;
  std::vector<void*> in;
  for (const std::vector<double>& values : expected.inputs) {
    const auto count = static_cast<std::int64_t>(values.size());
    inputs.emplace_back(count * bytes_of(expected.dtype), fill);
    for (std::int64_t i = 0; i < count; ++i)
      set_number(expected.dtype, inputs.back().data(), i, values[static_cast<std::size_t>(i)]);
  }
  for (Surrounded& input : inputs) in.push_back(input.data());
  const std::int64_t bytes = static_cast<std::int64_t>(expected.values.size()) * bytes_of(expected.of_output);
  Surrounded output(bytes, fill), workspace(kernel->workspace_bytes(), fill);
  void* out = output.data();
  kernel->run({.inputs = in.data(), .outputs = &out, .workspace = workspace.data()});
  const auto* const begin = static_cast<const std::byte*>(output.data());
  return {{begin, begin + bytes},
          !output.intact()      ? "writes beside its output"
          : !workspace.intact() ? "writes beside its workspace"
                                : ""};
}

/// "" or what is wrong. Sums may be in any order and, as Winograd's, of differences.
std::string wrong_values(const Expected& expected, const std::vector<std::byte>& bytes) {
  const double most = *std::max_element(expected.magnitudes.begin(), expected.magnitudes.end());
  const double of_sums = expected.dtype == DType::f64 ? 1e-14 : 4e-6;
  const double of_result = wide_of(expected.of_output) == expected.of_output ? 0 : most_error(expected.of_output) / 2;
  std::int64_t wrong = 0, first = -1;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(expected.values.size()); ++i) {
    const double want = expected.values[static_cast<std::size_t>(i)];
    const double got = number_at(expected.of_output, bytes.data(), i);
    if (std::abs(got - want) <= of_sums * most + of_result * std::abs(want)) continue;
    if (wrong++ == 0) first = i;
  }
  if (wrong == 0) return "";
  return message(wrong, " of ", expected.values.size(), " values are wrong; number ", first, " is ",
                 number_at(expected.of_output, bytes.data(), first), ", expected ",
                 expected.values[static_cast<std::size_t>(first)]);
}

std::int64_t one_of(std::mt19937& random, std::initializer_list<std::int64_t> values) {
  return values.begin()[random() % values.size()];
}

}  // namespace

std::string wrong_over_rubbish(const Expected& expected, const MakeKernel& make) {
  std::optional<std::vector<std::byte>> before;
  for (const std::byte fill : kFills) {
    std::string code;
    const Result result = run_over(fill, expected, make, code);
    if (code.empty()) return "";
    std::string wrong = result.wrong.empty() ? wrong_values(expected, result.bytes) : result.wrong;
    if (wrong.empty() && before && *before != result.bytes) wrong = "other bits over other memory";
    if (!wrong.empty()) return message(code, ": ", wrong, " (memory held ", std::to_integer<int>(fill), ")");
    before = result.bytes;
  }
  return "";
}

Expected expected_of(ConvPass pass, const ConvShape& s, DType dtype) {
  Expected expected{dtype, dtype};
  const std::int64_t sizes[] = {x_size(s), weight_size(s), y_size(s)};  // of what for_each_product counts in
  const int made = pass == ConvPass::Forward ? 2 : pass == ConvPass::GradInput ? 0 : 1;
  const int first = pass == ConvPass::GradInput ? 2 : 0, second = pass == ConvPass::GradWeight ? 2 : 1;
  add_input(expected, sizes[first]);
  add_input(expected, sizes[second]);
  set_outputs(expected, sizes[made]);
  const double *const a = expected.inputs[0].data(), *const b = expected.inputs[1].data();
  for_each_product(s, [&](std::int64_t x, std::int64_t w, std::int64_t y) {
    const std::int64_t at[] = {x, w, y};
    add(expected, at[made], a[at[first]] * b[at[second]]);
  });
  return expected;
}

Expected expected_of(const GemmShape& s, DType dtype) {
  Expected expected{dtype, dtype_of_c(s, dtype)};
  add_input(expected, s.batch * s.m * s.k);
  add_input(expected, s.batch * s.k * s.n);
  if (s.epilogue.bias) add_input(expected, s.n);
  set_outputs(expected, s.batch * s.m * s.n);
  for (std::int64_t i = 0; i < s.batch * s.m; ++i)
    for (std::int64_t j = 0; j < s.n; ++j) {
      const double *const a = expected.inputs[0].data() + i / s.m * s.m * s.k, *const b = expected.inputs[1].data() +
                                                                                          i / s.m * s.k * s.n;
      const std::int64_t row = i % s.m;
      if (s.epilogue.bias) add(expected, i * s.n + j, expected.inputs[2][static_cast<std::size_t>(j)]);
      for (std::int64_t k = 0; k < s.k; ++k)
        add(expected, i * s.n + j,
            a[s.transpose_a ? k * s.m + row : row * s.k + k] * b[s.transpose_b ? j * s.k + k : k * s.n + j]);
    }
  return expected;
}

ConvShape random_conv(std::mt19937& random) {
  for (;;) {
    ConvShape s{.batch = one_of(random, {1, 2, 3}), .groups = one_of(random, {1, 1, 2, 3}), .kernel = {1, 1}};
    const bool is_product = random() % 4 == 0;
    s.channels = s.groups * one_of(random, {1, 3, 7, 8, 15, 16, 17, 24, 31, 32, 33, 40, 48, 64, 96});
    s.filters = s.groups * one_of(random, {1, 3, 8, 15, 16, 17, 24, 31, 32, 33, 40, 48, 64, 96});
    const std::int64_t step = is_product ? one_of(random, {1, 1, 2, 3}) : 1;  // the stride of a product
    for (const int axis : {0, 1}) {
      s.stride[axis] = step;
      s.in[axis] = is_product ? step * (1 + static_cast<std::int64_t>(random() % (36 / step)))
                              : one_of(random, {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 20});
      if (!is_product) {
        s.kernel[axis] = one_of(random, {1, 1, 2, 3, 3, 5});
        s.stride[axis] = one_of(random, {1, 1, 2, 3, 4});
        s.pad[axis] = one_of(random, {0, 0, 1, 2});
        s.dilation[axis] = one_of(random, {1, 1, 2, 3});
      }
      s.out[axis] = s.in[axis] + 2 * s.pad[axis] < s.dilation[axis] * (s.kernel[axis] - 1) + 1 ? 0 : out_size(s, axis);
    }
    const std::int64_t products = y_size(s) * s.kernel[0] * s.kernel[1] * s.channels / s.groups;
    if (products > 0 && products <= 100'000) return s;
  }
}

GemmShape random_product(std::mt19937& random) {
  GemmShape s{
      .batch = one_of(random, {1, 1, 1, 2, 3}), .transpose_a = random() % 2 == 0, .transpose_b = random() % 2 == 0};
  for (std::int64_t* const size : {&s.m, &s.n, &s.k})
    *size = random() % 2 == 0
                ? 1 + static_cast<std::int64_t>(random() % 100)
                : one_of(random, {1, 2, 15, 16, 17, 31, 32, 33, 47, 48, 59, 63, 64, 65, 66, 80, 96, 127, 129});
  s.epilogue.bias = random() % 3 == 0;
  return s;
}

std::string described(const GemmShape& s) {
  return message(s.batch, " of ", s.m, 'x', s.n, 'x', s.k, s.transpose_a ? ", a^T" : "", s.transpose_b ? ", b^T" : "",
                 s.epilogue.bias ? ", bias" : "", s.wide_c ? ", in f32" : "");
}

}  // namespace lethe::testing
