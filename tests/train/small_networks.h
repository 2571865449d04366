// Networks of the zoo in a size that a test of ranks has time for.
#pragma once
#include <string>

#include "train/session/settings.h"

namespace lethe::testing {

inline Sets sets_of_small(const std::string& model) {
  if (model == "resnet20") return {{"n", "1"}};
  if (model == "char_gpt")
    return {{"length", "16"}, {"width", "16"}, {"heads", "2"}, {"layers", "1"}, {"dropout", "0.2"}};
  if (model == "llama")
    return {{"length", "16"}, {"width", "16"}, {"heads", "4"}, {"kv_heads", "2"}, {"hidden", "24"}, {"layers", "1"}};
  return {};
}
inline bool reads_text(const std::string& model) { return model.starts_with("char_") || model == "llama"; }

}  // namespace lethe::testing
