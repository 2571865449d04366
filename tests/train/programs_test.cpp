#include "train/programs.h"

#include <gtest/gtest.h>

#include "tests/train/data_samples.h"
#include "train/recipe.h"

namespace lethe::testing {
namespace {

TEST(Programs, TheDataHasTheClassesThatTheLossReadsWhateverTheOutputs) {
  const TemporaryFolder folder;
  for (const char* outputs : {R"(["features", "logits"])", R"(["logits", "features"])", R"(["features"])"}) {
    folder.write("net.json", std::string(R"({"version": 1, "name": "net",
      "inputs": {"image": {"shape": [3, 8, 8]}, "label": {"shape": [], "dtype": "i32"}},
      "layers": [{"op": "fc", "out": 16, "name": "features"}, {"op": "fc", "out": 5, "name": "logits"}],
      "loss": [{"op": "cross_entropy", "in": "logits", "target": "label"}], "outputs": )") +
                                 outputs + "}");
    const Options options = decided(parse_options({"--model", folder.text() + "/net.json"}));
    const auto data = open_data(options, build_network(options, true), [](const std::string&) {});
    EXPECT_EQ(dynamic_cast<const Dataset&>(*data).info().classes.size(), 5U) << outputs;
  }
}

}  // namespace
}  // namespace lethe::testing
