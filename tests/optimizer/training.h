// Steps of an optimizer on gradients that a test gives.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "framework/error.h"
#include "framework/language/verify.h"
#include "framework/run/executor.h"
#include "kernels/cpu/device.h"
#include "optimizer/optimizer.h"

namespace lethe::testing {

/// Parameters with their gradients fed: a program of updates alone.
class Training {
 public:
  Training(const std::vector<std::vector<double>>& values, const OptimizerSettings& settings, bool decay = true,
           const RateScales& rates = {})
      : store_(*device_) {
    for (std::size_t p = 0; p < values.size(); ++p) add(message("w", p), values[p], decay);
    updates = append_updates(program, pairs_, infos_, settings, {}, {}, rates);
    verify(program);
    plan_ = plan_none(program, workspaces_of(program, prepared_));
    executor_ = std::make_unique<Executor>(program, plan_, prepared_, store_);
    for (std::size_t p = 0; p < values.size(); ++p)
      store_.write(message("w", p), values[p].data(), static_cast<std::int64_t>(values[p].size() * sizeof(double)));
  }

  void step(const std::vector<std::vector<double>>& gradients, double rate = 0.1) {
    for (std::size_t p = 0; p < gradients.size(); ++p)
      executor_->feed(pairs_[p].grad, gradients[p].data(), bytes_of(program.vars[pairs_[p].grad]));
    executor_->feed(updates.learning_rate, &rate, sizeof rate);
    executor_->run();
  }

  std::vector<double> values(const std::string& name) const {
    const std::vector<std::byte> bytes = store_.read(name);
    const auto* first = reinterpret_cast<const double*>(bytes.data());
    return {first, first + bytes.size() / sizeof(double)};
  }
  std::int64_t steps_counted() const { return *reinterpret_cast<const std::int64_t*>(store_.read("step").data()); }

  Program program;
  Updates updates;

 private:
  void add(const std::string& name, const std::vector<double>& values, bool decay) {
    const Shape shape = {static_cast<std::int64_t>(values.size())};
    const VarId param = add_var(program, {.name = name, .shape = shape, .dtype = DType::f64, .kind = Kind::Param});
    const VarId gradient =
        add_var(program, {.name = name + "@GRAD", .shape = shape, .dtype = DType::f64, .kind = Kind::Input});
    pairs_.push_back({param, gradient});
    infos_.push_back({.var = param, .decay = decay});
  }

  std::unique_ptr<Device> device_ = open_cpu(2);
  Store store_;
  Prepared prepared_{*device_};
  Plan plan_;
  std::vector<ParamGrad> pairs_;
  std::vector<ParamInfo> infos_;
  std::unique_ptr<Executor> executor_;
};

using Reals = std::vector<double>;
inline const Reals kStart = {1, -2, 0.5};
inline const std::vector<Reals> kGradients = {{0.5, -1, 2}, {0.25, 3, -1}, {-1.5, 0.125, 0.75}};

inline OptimizerSettings with_decay(const std::string& name, double decay = 0.01) {
  OptimizerSettings settings = optimizer_named(name);
  settings.weight_decay = decay;
  return settings;
}

}  // namespace lethe::testing
