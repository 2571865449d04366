// Optimizers: update ops of role Optimize at the end of a Program, with PyTorch's formulas and defaults.
#pragma once
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "framework/autodiff/autodiff.h"
#include "framework/language/block_formats.h"
#include "framework/language/layer.h"
#include "framework/language/program.h"
#include "framework/ranks/peers.h"
#include "kernels/device_code.h"
#include "optimizer/rate_scales.h"

namespace lethe {

enum class OptimizerType : std::uint8_t { Sgd, Momentum, Nesterov, Adam, AdamW, RmsProp, Lion, Adafactor };

struct OptimizerSettings {
  OptimizerType type = OptimizerType::Sgd;
  double momentum = 0;                // Momentum, Nesterov, RmsProp
  double beta1 = 0.9, beta2 = 0.999;  // Adam, AdamW, Lion (0.99)
  double eps = 1e-8;                  // Adam, AdamW, RmsProp
  double alpha = 0.99;                // RmsProp: of the mean square
  double weight_decay = 0;    // added to the gradient; AdamW, Lion, Adafactor: shrinks the parameter by rate * decay
  std::string decay = {};     // parameters that decay beside weights: names with commas between, `*` for any
  std::string no_decay = {};  // and that do not, although they are weights or named above
  double clip_norm = 0;       // largest norm of all gradients together; 0: not clipped
  bool states_in_8_bits = false;                // of parameters that has_coded_states(), if takes_8_bits(type)
  std::set<std::string> keep_f32 = {};          // parameters whose states stay in f32 all the same
  std::int64_t min_8bit_size = kLeastInBlocks;  // elements; must not be less where ranks have shares
  std::uint64_t seed = 0;  // of the rounding of parameters in bf16 (optimizer/stochastic_rounding.h)
};

/// The settings that "sgd", "momentum", "nesterov", "adam", "adamw", "rmsprop", "lion" or "adafactor" stands for; fails
/// with a suggestion. PyTorch's defaults, of Lion its paper's, and 0.9 where the name asks for momentum.
OptimizerSettings optimizer_named(const std::string& name);
/// All names, in the order of OptimizerType.
const std::vector<std::string>& optimizer_names();

struct Updates {
  VarId learning_rate = kNone;     // Input "learning_rate": a scalar of the parameters' dtype, fed each step
  VarId step = kNone;              // State "step", i64: whole steps done; kNone if nothing counts them
  std::vector<VarId> states = {};  // made here, zero at first: `<param>@momentum`, `@m`, `@v`, `@square`...
};

/// Whether states of such an optimizer may be in 8 bits: Momentum, Nesterov, Adam, AdamW, Lion.
bool takes_8_bits(OptimizerType type);
/// Whether a parameter's states may be so: it has at least so many elements, and no op looks up its rows (`embedding`),
/// of which some have a gradient now and then.
bool has_coded_states(const Program& program, VarId param, std::int64_t least = kLeastInBlocks);

/// Whether ranks can update shares of parameters by it.
bool takes_shares(OptimizerType type);
/// Whether a rank may have its share alone of a state of this name: not of what an optimizer has that takes none.
bool may_be_a_share(const std::string& state);

/// Of gradients in f16: the loss is scaled up, so that they do not vanish, by what just does not let them overflow.
struct LossScaleState {
  std::int64_t halvings = 0;    // more than doublings
  std::int64_t good_steps = 0;  // since the scale changed
  std::int64_t skipped = 0;     // steps
  HD double scale(double initial) const { return std::ldexp(initial, -static_cast<int>(halvings)); }
};
struct LossScale {
  VarId state = kNone;  // State "loss_scale", i64[3]: a LossScaleState
  VarId scale = kNone;  // initial * 2^-halvings: the gradient of the loss that backward begins with
};
inline constexpr double kInitialLossScale = 65536;
LossScale append_loss_scale(Program& program, double initial = kInitialLossScale);

/// Appends one update op for each gradient, in their order, and last of all the step counter's increment, if the
/// network or the optimizer counts steps. With a loss scale gradients are divided by it, and a step with an infinite
/// or NaN gradient leaves parameters and states as they are. `params` says which parameters decay where the settings do
/// not. Of one of several ranks it updates its shares of parameters alone (framework/ranks/peers.h), with states of
/// these; a gradient is whole or such a share. `rates` scale the learning rate of those whom they name. Fails for
/// settings out of range, for a name that no parameter has, and if there is no gradient.
Updates append_updates(Program& program, const std::vector<ParamGrad>& gradients, const std::vector<ParamInfo>& params,
                       const OptimizerSettings& settings, const LossScale& loss_scale = {}, Rank shares_of = {},
                       const RateScales& rates = {});

}  // namespace lethe
