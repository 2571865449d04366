#include "train/optnet/torch_notes.h"

namespace lethe {

TorchNotes torch_notes(const std::string& model) {
  if (model == "optnet/alexnet" || model == "optnet/vgg_a")
    return {.sequentials = {"features", "classifier"}, .view_drops_batch_of_one = true};
  if (model == "optnet/googlenet") return {.sequentials = {"features"}};
  if (model == "optnet/resnet110")
    return {.sequentials = {"stage1", "stage1/*", "stage2", "stage2/*", "stage3", "stage3/*"}};
  return {};
}

}  // namespace lethe
