// The small languages of the command line: the input's first byte says which the rest is in.
#include "train/session/settings.h"

#include <functional>

#include "optimizer/schedule.h"
#include "tests/fuzz/fuzz.h"
#include "train/data/augment.h"
#include "train/data/data_spec.h"
#include "train/values.h"

namespace lethe::fuzz::settings_target {
namespace {

void read_schedule(const std::string& text) {
  const Schedule schedule = parse_schedule(text);
  for (const std::int64_t step : {0, 1, 50, 99}) schedule.at(step, {.total = 100, .per_epoch = 7}, 0.1);
}

const std::vector<std::function<void(const std::string&)>> kReaders = {
    read_schedule,
    [](const std::string& text) { memory_setting(text); },
    [](const std::string& text) { augmentation_of(text); },
    [](const std::string& text) { DataSpec(text).counts({}); },
    [](const std::string& text) { parse_bytes(text, "--capacity"); },
    [](const std::string& text) { parse_interval(text, "--save-every"); },
    [](const std::string& text) { parse_link(text, "--network"); },
    [](const std::string& text) { optimizer_named(text); },
};

Material material() {
  const std::vector<std::vector<std::string>> of_readers = {
      {"constant", "step@30ex0.1", "multistep@32000,48000x0.1", "exp@1ex0.95", "poly^0.9", "cosine@90%x0.01",
       "one-cycle@30%", "cosine+warmup@500x0.1", "poly*warmup@1.5e"},
      {"none", "level=0", "level=1,release,inplace", "level=2", "optnet=training,none"},
      {"none", "flip,pad-crop=4", "cutout=8,random-crop"},
      {"shapes:train=160,test=40", "mnist:DIR"},
      {"1500", "800MiB", "1.5GB"},
      {"500", "2e"},
      {"25Gb,10us", "1.5GB,500ns"},
      {"adamw"}};
  Material all{.words = {"@", "x", "e", "%", "^", "+warmup@", "*warmup@", ",", "=", "train=", "test=", "GiB",
                         "level=", "optnet=", "1e308", "inf"}};
  for (std::size_t reader = 0; reader < of_readers.size(); ++reader)
    for (const std::string& text : of_readers[reader]) all.seeds.push_back(static_cast<char>(reader) + text);
  return all;
}

void read_input(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return;
  const auto& reader = kReaders[data[0] % kReaders.size()];
  reads({Exit::Usage}, [&] { reader(std::string(text_of(data + 1, size - 1))); });
}

const RegisterTarget target{{"settings", material, read_input}};

}  // namespace
}  // namespace lethe::fuzz::settings_target
