#include <gtest/gtest.h>

#include "framework/builder/settings.h"
#include "tests/support/expect_error.h"
#include "train/report/summary.h"

namespace lethe::testing {
namespace {

TEST(LayerList, SaysOfEachKeyWhatItTakes) {
  const std::string conv = layer_list("Conv");
  EXPECT_EQ(conv.rfind("conv (conv2d, Conv): ", 0), 0U) << conv;
  for (const char* part : {"required", "1 to 2147483647", "kernel height and width", "same"})
    EXPECT_NE(conv.find(part), std::string::npos) << part << " in\n" << conv;
  EXPECT_NE(layer_list("dropout").find("at least 0 and below 1"), std::string::npos);
}

TEST(LayerList, HasEveryLayer) {
  const std::string all = layer_list("");
  for (const Layer* layer : all_layers())
    EXPECT_NE(("\n" + all).find("\n" + layer_list(layer->name)), std::string::npos) << layer->name;
  EXPECT_TRUE(fails_with("unknown layer 'convv'; did you mean 'conv'?", [] { layer_list("convv"); }));
}

}  // namespace
}  // namespace lethe::testing
