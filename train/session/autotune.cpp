#include "train/session/autotune.h"

#include "framework/error.h"
#include "kernels/cuda/device.h"
#include "kernels/provider.h"
#include "train/session/device.h"
#include "train/session/measured_file.h"

namespace lethe {
namespace {

constexpr const char* kMark = "autotune";

/// What choices hold for.
Json head_of(const std::string& device) {
  if (device == "cpu") return {{kMark, 1}, {"processor", processor_name()}, {"onednn", onednn_version()}};
  const Json gpu = Json::parse(gpu_description(device));
  return {{kMark, 1},
          {"gpu", gpu.value("deviceName", "")},
          {"driver", gpu.value("driverVer", 0)},
          {"cudnn", cudnn_version()}};
}

}  // namespace

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
