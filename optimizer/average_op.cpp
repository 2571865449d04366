// An exponential moving average of a weight: average += (1 - decay) * (value - average), as timm's ModelEmaV3 (lerp).
#include "framework/error.h"
#include "optimizer/update.h"

namespace lethe {
namespace {

template <class T>
struct Average {
  T share;
  explicit Average(const Attrs& attrs) : share(static_cast<T>(1 - attrs.number("decay"))) {}
  HD void operator()(T& average, T value, const Rates<T>&) const {
    average = std::fma(value - average, share, average);
  }
};

/// An average reads no rates: it follows the weight also in a step that is skipped.
template <class T>
struct NoRates {
  static constexpr int kInputs = 0;
  static constexpr std::int64_t kWorkspace = 0;
  bool scaled = true;
  NoRates(const Attrs&, bool) {}
  bool operator==(const NoRates&) const = default;
  struct Read {
    HD Rates<T> operator()() const { return {T(0), T(1)}; }
  };
  template <class Device>
  Read read(Device, const KernelArgs&, int) const {
    return {};
  }
};

const Register register_average{{
    .type = "average",
    .inputs = {"average", "value"},
    .outputs = {"average"},
    .infer =
        [](const InferArgs& args) {
          const double decay = args.op.attrs.number("decay");
          check(decay >= 0 && decay < 1, "average: decay is ", decay, ", expected at least 0 and below 1");
          check_input(args, 1, {args.in(0).shape, args.in(0).dtype});
          return same_as_first(args);
        },
    .updates = true,
    .kernels = each_device<Update<Average, 0, NoRates>>(),
}};

}  // namespace
}  // namespace lethe
