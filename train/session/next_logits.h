// What a network says of the symbol that follows others.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "framework/run/executor.h"
#include "train/session/fed_data.h"
#include "train/session/programs.h"

namespace lethe {

/// Symbols that the network reads at once. Fails unless it reads symbols and says of each which follows.
std::int64_t context_of(const Network& network);

/// The begin of the window that symbol number `position` is told from: 0 while there are at most `context` symbols
/// before it; then it moves on by half of these at a time, so that what is known of the others can be kept meanwhile.
std::int64_t window_begin(std::int64_t position, std::int64_t context);

class NextLogits {
 public:
  virtual ~NextLogits() = default;
  /// The logits of what follows all of `symbols`, of which there is one at least.
  virtual std::vector<double> after(std::span<const std::int32_t> symbols) = 0;
};

/// Runs the network over the whole window, for each symbol again.
class WindowLogits final : public NextLogits {
 public:
  /// All must outlive it. The network must have been made for evaluation at batch 1, and `planned` of it so that it
  /// keeps the prediction.
  WindowLogits(const Network& network, const Planned& planned, Prepared& prepared, Store& store);
  std::vector<double> after(std::span<const std::int32_t> symbols) override;

 private:
  const Network& network_;
  FedInputs fed_;
  std::vector<std::int32_t> window_;
  Executor executor_;
};

}  // namespace lethe
