#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "models/network.h"

namespace lethe::testing {
namespace {

const std::string kModels = LETHE_SOURCE_DIR "/models";

TEST(Schema, ShippedFileIsTheOneMadeFromTheLayerRecords) {
  std::ifstream in(kModels + "/net.schema.json");
  std::ostringstream shipped;
  shipped << in.rdbuf();
  EXPECT_EQ(shipped.str(), network_schema()) << "renew it: train schema > models/net.schema.json";
}

bool succeeds(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }

TEST(Schema, AcceptsTheZooAndRefusesTheBadFilesThatASchemaCanTell) {
  if (!succeeds("python3 -c 'import jsonschema'")) GTEST_SKIP() << "python3 has no package jsonschema";
  const std::string script = LETHE_SOURCE_DIR "/tests/models/check_schema.py";
  EXPECT_TRUE(succeeds("python3 " + script + " " + kModels + " " LETHE_SOURCE_DIR "/tests/models/bad"))
      << "run: python3 " << script;
}

}  // namespace
}  // namespace lethe::testing
