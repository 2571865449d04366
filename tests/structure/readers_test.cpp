// Whatever reads files of others has a fuzz target.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/structure/source_files.h"

namespace lethe::testing {
namespace {

const std::map<std::string, std::string> kTargets = {
    {"models/json_source.cpp", "network"},  {"train/cifar.cpp", "cifar"},         {"train/data_files.cpp", "mnist"},
    {"train/device.cpp", "device"},         {"train/image_file.cpp", "image"},    {"train/metrics.cpp", "metrics"},
    {"train/mnist.cpp", "mnist"},           {"train/pack_csv.cpp", "pack_csv"},   {"train/run_state.cpp", "run_state"},
    {"train/safetensors.h", "safetensors"}, {"train/text_file.cpp", "text_file"},
};
const std::string kReadsItsOwn = "train/bench.cpp";  // what the processes that it starts wrote

bool reads_files(const std::string& file) {
  const std::vector<std::string> lines = lines_of(file);
  return std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find("std::ifstream") != std::string::npos || line.find(" = read_file") != std::string::npos;
  });
}

TEST(Readers, EachHasAFuzzTarget) {
  for (const std::string& file : all_sources()) {
    if (file.rfind("tests/", 0) == 0 || file.rfind("bench/", 0) == 0 || file.rfind("examples/", 0) == 0) continue;
    if (file == kReadsItsOwn || !reads_files(file)) continue;
    const auto target = kTargets.find(file);
    ASSERT_NE(target, kTargets.end()) << file << " reads files: give it a target in tests/fuzz";
    EXPECT_TRUE(std::filesystem::exists(kRoot / ("tests/fuzz/" + target->second + ".cpp"))) << target->second;
  }
}

}  // namespace
}  // namespace lethe::testing
