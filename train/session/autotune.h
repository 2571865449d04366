// Choices among algorithms by short trials, kept in a file.
#pragma once
#include <memory>
#include <string>

#include "kernels/trials.h"

namespace lethe {

/// Trials on a device that is there (cpu, cuda:0), of which `file`, a JSON file, knows earlier choices and is told new
/// ones. One that cannot be read, or was written on another processor or GPU or with another driver or library, is
/// ignored, which `note` is told in one line, and written anew. Fails if it cannot be written, if another kind of file
/// is there, and with Exit::Device if the device is not.
std::shared_ptr<Trials> trials_of(const std::string& file, const std::string& device,
                                  const std::function<void(const std::string&)>& note);

}  // namespace lethe
