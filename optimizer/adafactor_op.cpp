// Adafactor (Shazeer and Stern, "Adafactor: Adaptive Learning Rates with Sublinear Memory Cost", 2018), as PyTorch has
// it, with t the number of this step, from 1:
//   keep = 1 - t^beta2_decay;  v = keep * v + (1 - keep) * g^2;
//   u = g / sqrt(v);  rate = max(eps, rms(param)) * min(learning rate, 1 / sqrt(t));
//   param = (1 - learning rate * decay) * param - rate / max(1, rms(u) / clip) * u.
// rms(param) is that before its decay. Of a parameter of several axes v never stands: it is the product of its means
// over rows and over columns, divided by the mean of all. Its rows are its first axis, its columns all others together,
// in the order in which they lie; of more than two PyTorch takes the last two.
#include <limits>

#include "framework/error.h"
#include "framework/ranks/peers.h"
#include "kernels/divisor.h"
#include "kernels/reduce/sums.h"
#include "kernels/workspace.h"
#include "optimizer/update.h"

namespace lethe {
namespace {

struct AdafactorSettings {
  double beta2_decay, eps, clip, decay;
  explicit AdafactorSettings(const Attrs& attrs)
      : beta2_decay(attrs.number("beta2_decay")),
        eps(attrs.number("eps")),
        clip(attrs.number("clip")),
        decay(attrs.number("weight_decay", 0)) {}
};

/// What changes from step to step.
template <class T>
struct StepRates {
  ReadRates<T> read;
  const std::int64_t* steps_done;
  HD double step() const { return static_cast<double>(*steps_done + 1); }
  HD bool skips() const { return read().grad_scale == 0; }
};

/// Numbers that all elements of a parameter share.
struct OfWhole {
  double param_square;  // the mean of the parameter's squares
  double row_mean;      // the mean of the rows' means
  double taken, kept;   // the step takes `taken` times u from `kept` times the parameter
};

template <class From>
struct SquareTerm {
  using Term = Compute<From>;
  const From* x;
  HD std::array<Term, 1> operator()(std::int64_t i, const std::array<Term, 0>&) const {
    const Term value = compute(x[i]);
    return {value * value};
  }
};

struct StoreMean {
  double* to;
  std::int64_t n;
  HD void operator()(std::int64_t, std::int64_t, const std::array<double, 1>& sums) const {
    *to = sums[0] / static_cast<double>(n);
  }
};

/// From the sum of the squares of n gradients: moves their mean in `means`, of rows or of columns.
template <class T>
struct MoveMean {
  StepRates<T> rates;
  double beta2_decay;
  std::int64_t inner, n;
  T* means;
  HD void operator()(std::int64_t outer, std::int64_t column, const std::array<double, 1>& sums) const {
    if (rates.skips()) return;
    const double scale = rates.read().grad_scale, now = sums[0] * scale * scale / static_cast<double>(n);
    T& mean = means[outer * inner + column];
    mean = static_cast<T>(mean + std::pow(rates.step(), beta2_decay) * (now - mean));
  }
};

/// x or, if that is more, `least`; NaN stays.
template <class T>
HD T at_least(T least, T x) {
  return x < least ? least : x;
}

/// v of an element.
template <class T>
struct Factored {
  const T *rows, *columns;
  Divisor row_size;
  const OfWhole* whole;
  HD T operator()(std::int64_t i) const {
    constexpr T kEps = std::numeric_limits<T>::epsilon();
    const T mean = at_least(kEps, static_cast<T>(whole->row_mean));
    return at_least(kEps * kEps, rows[row_size.quotient(i)] * columns[row_size.remainder(i)] / mean);
  }
};
template <class T>
struct Unfactored {
  const T* squares;
  HD T operator()(std::int64_t i) const {
    constexpr T kEps = std::numeric_limits<T>::epsilon();
    return at_least(kEps * kEps, squares[i]);
  }
};

template <class T, class Gradient, class Estimate>
struct Direction {
  StepRates<T> rates;
  const Gradient* gradient;
  Estimate v;
  HD T operator()(std::int64_t i) const { return compute(gradient[i]) * rates.read().grad_scale / std::sqrt(v(i)); }
};
template <class T, class Direction>
struct DirectionSquare {
  Direction direction;
  HD std::array<T, 1> operator()(std::int64_t i, const std::array<T, 0>&) const {
    const T u = direction(i);
    return {u * u};
  }
};

/// From the sum of the squares of all u.
template <class T>
struct StoreTaken {
  StepRates<T> rates;
  AdafactorSettings settings;
  std::int64_t n;
  OfWhole* whole;
  HD void operator()(std::int64_t, std::int64_t, const std::array<double, 1>& sums) const {
    const double rate = rates.read().learning_rate, root = 1 / std::sqrt(rates.step());
    const double reach = std::sqrt(sums[0] / static_cast<double>(n)) / settings.clip;
    whole->taken =
        at_least(settings.eps, std::sqrt(whole->param_square)) * (rate < root ? rate : root) / at_least(1.0, reach);
    whole->kept = 1 - rate * settings.decay;
  }
};

/// Param: T or Bf16.
template <class T, class Param, class Direction>
struct TakeStep {
  Direction direction;
  const OfWhole* whole;
  Param* param;
  RoundingStream rounding;
  HD void operator()(std::int64_t i) const {
    if (direction.rates.skips()) return;
    const T w = compute(param[i]) * static_cast<T>(whole->kept);
    const T next = std::fma(direction(i), static_cast<T>(-whole->taken), w);
    if constexpr (std::is_same_v<Param, T>)
      param[i] = next;
    else
      param[i] = rounding.round(next, i, *direction.rates.steps_done);
  }
};

/// Slots: param, row, column or param, square; then gradient, learning_rate, step, grad_scale?.
template <class Device, class Gradient, class Param, bool kFactored>
class Adafactor final : public Kernel {
 public:
  explicit Adafactor(const PrepareArgs& args)
      : settings_(args.op.attrs),
        n_(elements(args.out(0).shape)),
        rows_(kFactored ? args.out(0).shape[0] : 1),
        columns_(n_ / rows_),
        rate_scale_(static_cast<T>(args.op.attrs.number(kRateScale, 1))),
        scaled_(args.has_in(kGradient + 3)) {
    const auto planned = [&](SumExtent extent, DType dtype) {
      const SumPlan plan = plan_sum(Device{}, args.device, extent, dtype);
      partial_ = std::max(partial_, sum_workspace(plan, 1));
      return plan;
    };
    if constexpr (!std::is_same_v<Param, T>) rounding_ = rounding_of(args.op.attrs);
    const DType of_param = wide_of(args.out(0).dtype), of_gradient = args.in(kGradient).dtype;
    all_ = planned({.middle = n_}, of_param);
    over_rows_ = planned({.outer = rows_, .middle = columns_}, of_gradient);
    over_columns_ = planned({.middle = rows_, .inner = columns_}, of_gradient);
    of_rows_ = planned({.middle = rows_}, of_param);
    layout_.add(partial_);
    whole_ = layout_.add_array<OfWhole>(1);
  }
  std::int64_t workspace_bytes() const override { return layout_.bytes(); }
  /// The gradient for each mean, u and the step, the parameter for its own mean.
  std::int64_t bytes_again() const override {
    return n_ * static_cast<std::int64_t>((kFactored ? 3 : 2) * sizeof(Gradient) + sizeof(Param));
  }

  void run(const KernelArgs& a) const override {
    const ReadRates<T> read{a.in<T>(kGradient + 1), scaled_ ? a.in<T>(kGradient + 3) : nullptr, rate_scale_};
    const StepRates<T> rates{read, a.in<std::int64_t>(kGradient + 2)};
    const auto* const gradient = a.in<Gradient>(kGradient);
    auto* const whole = whole_.at<OfWhole>(a);
    const auto move = [&](const SumPlan& plan, T* means) {
      const SumExtent& extent = plan.extent;
      sum_middle(Device{}, a, plan, Columns<Gradient, 0>{}, SquareTerm<Gradient>{gradient},
                 MoveMean<T>{rates, settings_.beta2_decay, extent.inner, extent.middle, means});
    };
    sum_middle(Device{}, a, all_, Columns<T, 0>{}, SquareTerm<Param>{a.out<Param>(0)},
               StoreMean{&whole->param_square, n_});
    if constexpr (kFactored) {
      move(over_rows_, a.out<T>(1));
      move(over_columns_, a.out<T>(2));
      sum_middle(Device{}, a, of_rows_, Columns<T, 0>{}, ElementTerm<T>{a.out<T>(1)},
                 StoreMean{&whole->row_mean, rows_});
      step(a, rates, Factored<T>{a.out<T>(1), a.out<T>(2), Divisor(columns_), whole});
    } else {
      move(over_columns_, a.out<T>(1));
      step(a, rates, Unfactored<T>{a.out<T>(1)});
    }
  }

 private:
  using T = Compute<Gradient>;
  static constexpr int kGradient = kFactored ? 3 : 2;

  template <class Estimate>
  void step(const KernelArgs& a, const StepRates<T>& rates, const Estimate& v) const {
    const Direction<T, Gradient, Estimate> direction{rates, a.in<Gradient>(kGradient), v};
    auto* const whole = whole_.at<OfWhole>(a);
    sum_middle(Device{}, a, all_, Columns<T, 0>{}, DirectionSquare<T, Direction<T, Gradient, Estimate>>{direction},
               StoreTaken<T>{rates, settings_, n_, whole});
    parallel_for(Device{}, a.stream, n_,
                 TakeStep<T, Param, Direction<T, Gradient, Estimate>>{direction, whole, a.out<Param>(0), rounding_});
  }

  AdafactorSettings settings_;
  std::int64_t n_, rows_, columns_, partial_ = 0;
  RoundingStream rounding_ = {};
  T rate_scale_;
  bool scaled_;
  SumPlan all_, over_rows_, over_columns_, of_rows_;
  WorkspaceLayout layout_;
  WorkspacePart whole_;
};

template <bool kFactored>
struct PrepareAdafactor {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    return for_float(args.in(kFactored ? 3 : 2).dtype, [&](auto zero) -> std::unique_ptr<Kernel> {
      using Gradient = decltype(zero);
      using T = Compute<Gradient>;
      if constexpr (std::is_same_v<T, float>)
        if (args.out(0).dtype == DType::bf16)
          return std::make_unique<Adafactor<Device, Gradient, Bf16, kFactored>>(args);
      return std::make_unique<Adafactor<Device, Gradient, T, kFactored>>(args);
    });
  }
};

void check_whole(const InferArgs& args) {
  check(!args.op.attrs.has(kRanks), args.op.type, ": updates whole parameters, no rank's shares of them");
}

std::vector<Type> infer_factored(const InferArgs& args) {
  check_whole(args);
  const Var& param = args.in(0);
  check(param.shape.size() > 1, "adafactor: the parameter has no rows: ", text_of(param));
  const std::int64_t rows = param.shape[0];
  const DType wide = checked_wide(args);
  const std::vector<Type> types = {{param.shape, param.dtype}, {{rows}, wide}, {{elements(param.shape) / rows}, wide}};
  for (int slot = 1; slot < 3; ++slot) check_input(args, slot, types[static_cast<std::size_t>(slot)]);
  const Var& gradient = args.in(3);
  check(gradient.shape == param.shape && is_float(gradient.dtype) && wide_of(gradient.dtype) == wide,
        "adafactor: gradient is ", text_of(gradient), ", expected ", text_of(param));
  check_input(args, 4, {Shape{}, wide});
  check_input(args, 5, {Shape{}, DType::i64});
  if (args.has_in(6)) check_input(args, 6, {Shape{}, wide});
  return types;
}

const Register adafactor{{
    .type = "adafactor",
    .inputs = {"param", "row", "column", "gradient", "learning_rate", "step", "grad_scale?"},
    .outputs = {"param", "row", "column"},
    .infer = infer_factored,
    .updates = true,
    .gradient = 3,
    .kernels = each_device<PrepareAdafactor<true>>(),
}};
const Register adafactor_vector{{
    .type = "adafactor_vector",
    .inputs = {"param", "square", "gradient", "learning_rate", "step", "grad_scale?"},
    .outputs = {"param", "square"},
    .infer =
        [](const InferArgs& args) {
          check_whole(args);
          return infer_update(args);
        },
    .updates = true,
    .gradient = 2,
    .kernels = each_device<PrepareAdafactor<false>>(),
}};

}  // namespace
}  // namespace lethe
