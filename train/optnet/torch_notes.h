// What optnet's own networks have beyond their files.
#pragma once
#include <string>

#include "train/optnet/torch_net.h"

namespace lethe {

/// What the Torch definition of a zoo network said and its file does not; nothing for others.
TorchNotes torch_notes(const std::string& model);

}  // namespace lethe
