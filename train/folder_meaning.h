// What labels and pixels mean to the model of a folder of Hugging Face.
#pragma once
#include <string>
#include <vector>

#include "train/data/samples.h"

namespace lethe {

/// With these names of labels: mean and deviation of images, by channel, of its preprocessor_config.json, or where it
/// has none of the "pretrained_cfg" of its config.json, as timm writes that; nothing where neither says any. Fails
/// (Exit::Data), naming the place, for images that are prepared otherwise than pixels / 255, less the mean, over the
/// deviation.
Meaning meaning_in(const std::string& directory, std::vector<std::string> classes);

}  // namespace lethe
