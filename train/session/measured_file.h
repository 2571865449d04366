// JSON files of what was measured on a machine: a head that says on which one and how, then what was found.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "kernels/trials.h"
#include "models/json_source.h"

namespace lethe {

/// "AMD EPYC 9354"; "" if the system does not tell.
std::string processor_name();

class MeasuredFile {
 public:
  /// `head`: facts of this machine; `key`: of the object of what was found. Fails if the file cannot be written.
  MeasuredFile(std::string file, Json head, std::string key);

  /// Visits what an earlier run found, if the file is there. Fails if it is no such file, or if its head differs.
  void read(const std::function<void(const std::string& name, const JsonNode& found)>& visit) const;
  /// Whether the file, which read() refused, is empty or has the word: it may be overwritten.
  bool mentions(const std::string& word) const;
  /// The file as a whole, anew.
  void write(const Json& found) const;
  const std::string& name() const { return file_; }

 private:
  std::string file_, key_;
  Json head_;
};

/// Trials on a device that is there (cpu, cuda:0), of which `file`, a JSON file, knows earlier choices and is told new
/// ones. One that cannot be read, or was written on another processor or GPU or with another driver or library, is
/// ignored, which `note` is told in one line, and written anew. Fails if it cannot be written, if another kind of file
/// is there, and with Exit::Device if the device is not.
std::shared_ptr<Trials> trials_of(const std::string& file, const std::string& device,
                                  const std::function<void(const std::string&)>& note);

}  // namespace lethe
