#include "train/session/measured_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "framework/error.h"
#include "kernels/cuda/device.h"
#include "kernels/provider.h"
#include "train/session/atomic_file.h"
#include "train/session/device.h"

namespace lethe {
namespace {

constexpr const char* kMark = "autotune";

/// The facts of a machine that choices hold for.
Json head_of(const std::string& device) {
  if (device == "cpu") return {{kMark, 1}, {"processor", processor_name()}, {"onednn", onednn_version()}};
  const Json gpu = Json::parse(gpu_description(device));
  return {{kMark, 1},
          {"gpu", gpu.value("deviceName", "")},
          {"driver", gpu.value("driverVer", 0)},
          {"cudnn", cudnn_version()}};
}

}  // namespace

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(std::min(line.find(": ") + 2, line.size()));
  return "";
}

MeasuredFile::MeasuredFile(std::string file, Json head, std::string key)
    : file_(std::move(file)), key_(std::move(key)), head_(std::move(head)) {
  const std::string directory = std::filesystem::path(file_).parent_path().string();
  check_writable(directory.empty() ? "." : directory);
}

void MeasuredFile::read(const std::function<void(const std::string&, const JsonNode&)>& visit) const {
  if (!std::filesystem::exists(file_)) return;
  const JsonSource source(file_);
  for (const auto& [key, here] : head_.items())
    if (const JsonNode there = source.root().at(key); there.json() != here)
      there.fail("it was measured with ", key, " ", there.shown(), ", here that is ", here.dump());
  for (const auto& [name, found] : source.root().at(key_).members()) visit(name, found);
}

bool MeasuredFile::mentions(const std::string& word) const {
  std::ifstream in(file_);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  return text.empty() || text.find('"' + word + '"') != std::string::npos;
}

void MeasuredFile::write(const Json& found) const {
  Json json = head_;
  json[key_] = found;
  replace_file(file_, json.dump(1) + "\n");
}

std::shared_ptr<Trials> trials_of(const std::string& file, const std::string& device,
                                  const std::function<void(const std::string&)>& note) {
  const auto kept = std::make_shared<MeasuredFile>(file, head_of(device), "choices");
  Trials::Choices known;
  try {
    kept->read([&](const std::string& what, const JsonNode& way) {
      if (!way.json().is_string()) way.fail(way.shown(), " is no name of an algorithm");
      known[what] = way.json();
    });
  } catch (const Error& error) {
    check(kept->mentions(kMark), "`autotune`: ", file, " is there and was not written by it; name another");
    known.clear();
    note(message("`autotune`: ", error.what(), "; it is ignored and written anew"));
  }
  return std::make_shared<Trials>(known, [kept](const Trials::Choices& choices) { kept->write(choices); });
}

}  // namespace lethe
