// Whether a file has the tensors that a reading asks for.
#pragma once
#include <map>
#include <string>

#include "train/session/reading.h"

namespace lethe {

/// By name, vars that stay as they are, and what the file has instead: "the file has f32[10,64], the network
/// f32[3,64]".
using MadeAnew = std::map<std::string, std::string>;

/// Fails (Exit::Data) in one line that says what is missing, unexpected, or of another shape or dtype.
MadeAnew check_tensors(const TensorReader& reader, const Reading& reading);

}  // namespace lethe
