// Adafactor (Shazeer and Stern, "Adafactor: Adaptive Learning Rates with Sublinear Memory Cost", 2018), as PyTorch has
// it, with t the number of this step, from 1:
//   keep = 1 - t^beta2_decay;  v = keep * v + (1 - keep) * g^2;
//   u = g / sqrt(v);  rate = max(eps, rms(param)) * min(learning rate, 1 / sqrt(t));
//   param = (1 - learning rate * decay) * param - rate / max(1, rms(u) / clip) * u.
// Of a parameter of several axes v never stands: of its means over rows and over columns the product, divided by the
// mean of all. Its rows are its first axis, its columns all others together, in the order in which they lie.
#include <limits>

#include "framework/error.h"
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

/// Sums over a whole parameter.
struct WholeSums {
  double param_squares, row_sum, update_squares;
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

struct StoreSum {
  double* to;
  HD void operator()(std::int64_t, std::int64_t, const std::array<double, 1>& sums) const { *to = sums[0]; }
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

/// v of an element, not below eps^2.
template <class T>
struct Factored {
  const T *rows, *columns;
  Divisor row_size;
  std::int64_t count;  // of rows
  const WholeSums* sums;
  HD T operator()(std::int64_t i) const {
    constexpr T kEps = std::numeric_limits<T>::epsilon();
    const T mean = static_cast<T>(sums->row_sum / static_cast<double>(count));
    const T v = rows[row_size.quotient(i)] * columns[row_size.remainder(i)] / (mean > kEps ? mean : kEps);
    return v > kEps * kEps ? v : kEps * kEps;
  }
};
template <class T>
struct Unfactored {
  const T* squares;
  HD T operator()(std::int64_t i) const {
    constexpr T kEps = std::numeric_limits<T>::epsilon();
    return squares[i] > kEps * kEps ? squares[i] : kEps * kEps;
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

template <class T, class Direction>
struct TakeStep {
  Direction direction;
  AdafactorSettings settings;
  std::int64_t n;
  const WholeSums* sums;
  T* param;
  HD void operator()(std::int64_t i) const {
    if (direction.rates.skips()) return;
    const double size = static_cast<double>(n), rate = direction.rates.read().learning_rate;
    const double rms = std::sqrt(sums->param_squares / size), root = 1 / std::sqrt(direction.rates.step());
    const double reach = std::sqrt(sums->update_squares / size) / settings.clip;
    const double taken =
        (rms > settings.eps ? rms : settings.eps) * (rate < root ? rate : root) / (reach > 1 ? reach : 1);
    const T kept = static_cast<T>(1 - rate * settings.decay);
    param[i] = std::fma(direction(i), static_cast<T>(-taken), param[i] * kept);
  }
};

/// Slots: param, row, column or param, square; then gradient, learning_rate, step, grad_scale?.
template <class Device, class Gradient, bool kFactored>
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
    const DType of_param = args.out(0).dtype, of_gradient = args.in(kGradient).dtype;
    all_ = planned({.middle = n_}, of_param);
    over_rows_ = planned({.outer = rows_, .middle = columns_}, of_gradient);
    over_columns_ = planned({.middle = rows_, .inner = columns_}, of_gradient);
    of_rows_ = planned({.middle = rows_}, of_param);
    layout_.add(partial_);
    sums_ = layout_.add_array<WholeSums>(1);
  }
  std::int64_t workspace_bytes() const override { return layout_.bytes(); }

  void run(const KernelArgs& a) const override {
    const ReadRates<T> read{a.in<T>(kGradient + 1), scaled_ ? a.in<T>(kGradient + 3) : nullptr, rate_scale_};
    const StepRates<T> rates{read, a.in<std::int64_t>(kGradient + 2)};
    const auto* const gradient = a.in<Gradient>(kGradient);
    auto* const sums = sums_.at<WholeSums>(a);
    const auto move = [&](const SumPlan& plan, T* means) {
      const SumExtent& extent = plan.extent;
      sum_middle(Device{}, a, plan, Columns<Gradient, 0>{}, SquareTerm<Gradient>{gradient},
                 MoveMean<T>{rates, settings_.beta2_decay, extent.inner, extent.middle, means});
    };
    sum_middle(Device{}, a, all_, Columns<T, 0>{}, SquareTerm<T>{a.out<T>(0)}, StoreSum{&sums->param_squares});
    if constexpr (kFactored) {
      move(over_rows_, a.out<T>(1));
      move(over_columns_, a.out<T>(2));
      sum_middle(Device{}, a, of_rows_, Columns<T, 0>{}, ElementTerm<T>{a.out<T>(1)}, StoreSum{&sums->row_sum});
      step(a, rates, Factored<T>{a.out<T>(1), a.out<T>(2), Divisor(columns_), rows_, sums});
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
    auto* const sums = sums_.at<WholeSums>(a);
    sum_middle(Device{}, a, all_, Columns<T, 0>{}, DirectionSquare<T, Direction<T, Gradient, Estimate>>{direction},
               StoreSum{&sums->update_squares});
    parallel_for(Device{}, a.stream, n_,
                 TakeStep<T, Direction<T, Gradient, Estimate>>{direction, settings_, n_, sums, a.out<T>(0)});
  }

  AdafactorSettings settings_;
  std::int64_t n_, rows_, columns_, partial_ = 0;
  T rate_scale_;
  bool scaled_;
  SumPlan all_, over_rows_, over_columns_, of_rows_;
  WorkspaceLayout layout_;
  WorkspacePart sums_;
};

template <bool kFactored>
struct PrepareAdafactor {
  template <class Device>
  static std::unique_ptr<Kernel> prepare(const PrepareArgs& args) {
    return for_float(args.in(kFactored ? 3 : 2).dtype, [&](auto zero) -> std::unique_ptr<Kernel> {
      return std::make_unique<Adafactor<Device, decltype(zero), kFactored>>(args);
    });
  }
};

std::vector<Type> infer_factored(const InferArgs& args) {
  const Var& param = args.in(0);
  check(param.shape.size() > 1, "adafactor: the parameter has no rows: ", text_of(param));
  const std::int64_t rows = param.shape[0];
  const std::vector<Type> types = {
      {param.shape, param.dtype}, {{rows}, param.dtype}, {{elements(param.shape) / rows}, param.dtype}};
  for (int slot = 1; slot < 3; ++slot) check_input(args, slot, types[static_cast<std::size_t>(slot)]);
  const Var& gradient = args.in(3);
  check(gradient.shape == param.shape && is_float(gradient.dtype) && wide_of(gradient.dtype) == param.dtype,
        "adafactor: gradient is ", text_of(gradient), ", expected ", text_of(param));
  check_input(args, 4, {Shape{}, param.dtype});
  check_input(args, 5, {Shape{}, DType::i64});
  if (args.has_in(6)) check_input(args, 6, {Shape{}, param.dtype});
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
    .infer = infer_update,
    .updates = true,
    .gradient = 2,
    .kernels = each_device<PrepareAdafactor<false>>(),
}};

}  // namespace
}  // namespace lethe
