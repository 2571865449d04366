// Choices among algorithms by short trials, kept in a file.
#pragma once
#include <memory>
#include <string>

#include "kernels/trials.h"

namespace lethe {

/// Trials of which `file`, a JSON file, knows earlier choices and is told new ones. One that cannot be read, or was
/// written on another processor or with another library, is ignored, which `note` is told in one line, and written
/// anew. Fails if it cannot be written, and if another kind of file is there.
std::shared_ptr<Trials> trials_of(const std::string& file, const std::function<void(const std::string&)>& note);

}  // namespace lethe
