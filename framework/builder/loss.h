// What losses there are and what each may be told; Builder::loss adds one.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "framework/language/attrs.h"

namespace lethe {

/// With BuildOptions::class_weights a loss of integer labels is, as torch.nn.CrossEntropyLoss(weight=w) has it, the sum
/// of w[label] * loss over the sum of w[label], both over all labels of the batch that count. Evaluation weighs none.
struct LossSettings {
  double weight = 1;
  double label_smoothing = 0;               // of cross_entropy: 0 to below 1
  std::optional<std::int64_t> ignore = {};  // of integer labels: it does not count, nor do negative ones
  std::string name = {};                    // of a loss that is a layer: before its parameters' names
  Attrs layer = {};                         // its settings
};

std::vector<std::string> loss_names();        // all, sorted
bool is_layer_loss(const std::string& type);  // it has weights of its own and takes LossSettings::layer

}  // namespace lethe
