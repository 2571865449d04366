// Numbers that no size can be, in every whole-number key of every layer: each network builds and verifies, or ends in
// one line that says where.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "framework/builder/builder.h"
#include "framework/language/op_def.h"
#include "framework/language/verify.h"
#include "models/network.h"

namespace lethe::testing {
namespace {

const std::vector<std::string> kNumbers = {"-9223372036854775808", "-1", "0", "1", "2147483648", "4294967296",
                                           "9223372036854775807"};

bool holds_whole_numbers(const Key& key) {
  return key.type == KeyType::Int || key.type == KeyType::IntPair || key.type == KeyType::IntList ||
         key.type == KeyType::Pad || key.type == KeyType::Axis;
}

/// The forms in which a key may have a number.
std::vector<std::string> forms_of(const Key& key, const std::string& n) {
  if (key.type == KeyType::IntPair || key.type == KeyType::Pad) return {n, "[" + n + ", 1]", "[1, " + n + "]"};
  if (key.type == KeyType::IntList)
    return {"[" + n + "]", "[" + n + ", -1]", "[" + n + ", " + n + ", -1]", "[1, " + n + ", " + n + ", " + n + "]"};
  return {n};
}

/// Values that some layer takes for a key that it needs.
std::vector<std::string> usual_values(const Key& key) {
  switch (key.type) {
    case KeyType::Int:
    case KeyType::IntPair:
    case KeyType::Pad:
      return {"1", "4"};
    case KeyType::IntList:
      return {"[-1, 2]", "[1, 0]", "[2]"};
    case KeyType::Number:
      return {"0.5"};
    case KeyType::Choice:
      return {'"' + key.choices.front() + '"'};
    default:
      return {"0"};
  }
}

using Values = std::vector<std::pair<std::string, std::string>>;  // key and what is written for it

struct Base {
  std::string input;  // as the file declares it
  int inputs;         // how often the layer takes it
  Values values;
  bool labels = false;  // the last of its inputs are labels instead
};

class LayerSizes : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(file_); }

  /// "" if the network builds, else its error, which is of one line and about a place in the file.
  std::string outcome(const Layer& layer, const Base& base, bool training) const {
    std::string entry = R"({"op": ")" + layer.name + '"';
    for (const auto& [key, value] : base.values) entry += ", \"" + key + "\": " + value;
    if (base.inputs > 0) {
      entry += R"(, "in": ["x")";
      for (int i = 1; i < base.inputs; ++i) entry += base.labels && i + 1 == base.inputs ? R"(, "y")" : R"(, "x")";
      entry += ']';
    }
    const char* const labels = base.labels ? R"(, "y": {"shape": [6], "dtype": "i32"})" : "";
    std::ofstream(file_) << R"({"version": 1, "inputs": {"x": )" << base.input << labels << R"(}, "layers": [)" << entry
                         << "}]}";
    try {
      const Network network = load_network(file_, {.batch = 2, .training = training});
      verify(network.program);
      for (const Op& op : network.program.blocks[0].ops)
        if (op_def(op.type).is_view()) {
          EXPECT_EQ(elements(network.program.vars[op.in[0]].shape), elements(network.program.vars[op.out[0]].shape))
              << entry;
        }
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.code, Exit::Usage) << entry << ": " << error.what();
      EXPECT_EQ(std::string(error.what()).rfind(file_ + ":1:", 0), 0U) << entry << ": " << error.what();
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << entry << ": " << error.what();
      return error.what();
    }
  }

  /// An input and settings with which the layer builds.
  std::optional<Base> base_of(const Layer& layer) const {
    std::vector<Values> settings = {{}};
    for (const Key& key : layer.keys) {
      if (key.absent || (key.optional && key.name != "perm" && key.name != "scale" && key.name != "pad")) continue;
      std::vector<Values> longer;
      for (const Values& values : settings)
        for (const std::string& value : usual_values(key)) {
          longer.push_back(values);
          longer.back().emplace_back(key.name, value);
        }
      settings = std::move(longer);
    }
    for (const char* input :
         {R"({"shape": [4, 6, 6]})", R"({"shape": [6, 8]})", R"({"shape": [6, 12]})", R"({"shape": [8]})",
          R"({"shape": [3], "dtype": "i32"})", R"({"shape": [], "dtype": "i32"})"})
      for (const Values& values : settings)
        for (const bool labels : {false, true}) {
          const Base base{input, layer.min_inputs, values, labels};
          if (outcome(layer, base, true).empty()) return base;
        }
    return std::nullopt;
  }

  const std::string file_ = ::testing::TempDir() + "lethe_layer_sizes_" + std::to_string(getpid()) + ".json";
};

TEST_F(LayerSizes, BuildOrEndInOneLine) {
  int tried = 0;
  for (const Layer* layer : all_layers()) {
    if (std::none_of(layer->keys.begin(), layer->keys.end(), holds_whole_numbers)) continue;
    const std::optional<Base> base = base_of(*layer);
    if (!base) {
      ADD_FAILURE() << "'" << layer->name << "' builds with no usual values: add some above";
      continue;
    }
    for (const Key& key : layer->keys)
      for (const std::string& number : kNumbers)
        for (const std::string& form : forms_of(key, number)) {
          if (!holds_whole_numbers(key)) continue;
          Base changed = *base;
          std::erase_if(changed.values, [&](const auto& value) {
            return value.first == key.name || (value.first == "scale" && key.name == "size") ||
                   (value.first == "pad" && key.name == "pads");  // which it stands for
          });
          changed.values.emplace_back(key.name, form);
          const std::clock_t start = std::clock();  // of the processor: the machine may be busy
          for (const bool training : {true, false}) outcome(*layer, changed, training);
          EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 10)
              << layer->name << ' ' << key.name << ' ' << form;
          ++tried;
        }
  }
  EXPECT_GE(tried, 200);
}

}  // namespace
}  // namespace lethe::testing
