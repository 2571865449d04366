// A config.json, read by the "config" of network files.
#include "models/config.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/environment.h"
#include "tests/support/expect_error.h"

namespace lethe::testing {
namespace {

namespace fs = std::filesystem;

/// Its layers do not matter here.
constexpr const char* kTower = R"({
  "version": 1,
  "vars": {"width": 4, "heads": 2, "length": 64, "base": 1.0, "biased": false, "classes": 2, "window": 0, "kind": 0},
  "variants": {"wide": {"width": 8}},
  "inputs": {"x": {"shape": ["=width"]}},
  "layers": [{"op": "relu"}],
  "config": {
    "tower": {"keys": {
      "hidden": {"var": "width"},
      "heads": {"var": "heads", "least": 1, "default": "=width/2", "check": "=width % heads == 0"},
      "max_positions": {"most": "length", "default": 32},
      "theta": {"var": "base", "default": 100},
      "rope.theta": {"var": "base"},
      "rope.kind": {"var": "kind", "default": 0, "each": 2, "values": {"plain": 0, "other": 1}},
      "biased": {"var": "biased", "default": false},
      "act": {"is": ["gelu"], "default": "gelu"},
      "inner": {"is": ["=4*width"]},
      "use_window": {"let": "windowed", "default": false},
      "window": {"var": "window", "default": 9, "null": 0, "if": "=windowed"},
      "id2label": {"var": "classes", "size": true, "default": 2},
      "kinds": {"is": ["full"], "each": 2}},
      "pass": ["*_dropout"]},
    "spire": {"like": "tower", "variant": "wide", "set": {"biased": true},
      "keys": {"hidden": {"is": ["=width"]}, "act": {"is": ["relu"], "default": "relu"}}}
  }
})";

class ConfigTest : public ::testing::Test {
 protected:
  ConfigTest() : folder_(fs::temp_directory_path() / ("lethe_config_" + std::to_string(::getpid()))) {
    fs::create_directory(folder_);
    put("tower.json", kTower);
  }
  ~ConfigTest() override { fs::remove_all(folder_); }

  void put(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  ConfiguredNetwork read(const std::string& config) const {
    put("config.json", config);
    return read_config((folder_ / "config.json").string());
  }
  /// What it says of a wrong one, after the folder's name; all of it is a fault of data.
  std::string wrong(const std::string& config) const {
    try {
      read(config);
    } catch (const Error& error) {
      EXPECT_EQ(error.code, Exit::Data) << error.what();
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
      return std::string(error.what()).substr(folder_.string().size() + 1);
    }
    return "(nothing)";
  }

  fs::path folder_;
  Environment models_{"LETHE_MODELS", folder_.string()};
};

TEST_F(ConfigTest, KeysFillVars) {
  const ConfiguredNetwork plain = read(R"({"model_type": "tower", "hidden": 6, "kinds": null})");
  EXPECT_EQ(plain.model, "tower");
  EXPECT_EQ(plain.family, "tower");
  EXPECT_EQ(plain.sets, (Sets{{"width", "6"},
                              {"heads", "3"},
                              {"length", "32"},
                              {"base", "100"},
                              {"biased", "0"},
                              {"kind", "0"},
                              {"classes", "2"}}));
  ASSERT_EQ(plain.bounds.size(), 1U);
  EXPECT_EQ(plain.bounds[0].var, "length");
  EXPECT_EQ(plain.bounds[0].most, 32);
  const Sets full =
      read(R"({"model_type": "tower", "hidden": 12, "heads": 4, "max_positions": 128, "rope": {"theta": 5e5,
               "kind": "other"}, "act": "gelu", "inner": 48, "use_window": true, "window": 7, "a_dropout": 0.5,
               "id2label": {"0": "a", "1": "b", "2": "c"}, "kinds": ["full", "full"], "biased": 1.0,
               "use_cache": true})")
          .sets;
  EXPECT_EQ(full, (Sets{{"width", "12"},
                        {"heads", "4"},
                        {"base", "5e+05"},
                        {"biased", "1"},
                        {"kind", "1"},
                        {"window", "7"},
                        {"classes", "3"}}));
  const Sets off = read(R"({"model_type": "tower", "hidden": 4, "use_window": false, "window": 7})").sets;
  EXPECT_EQ(off.count("window"), 0U);
  const auto window = [&](const std::string& said) {
    return read(R"({"model_type": "tower", "hidden": 4, "use_window": true)" + said + "}").sets.at("window");
  };
  EXPECT_EQ(window(""), "9");
  EXPECT_EQ(window(R"(, "window": null)"), "0");
}

TEST_F(ConfigTest, AFamilyTakesOverWhatItIsLike) {
  const ConfiguredNetwork spire = read(R"({"architecture": "spire", "hidden": 8, "a_dropout": 0.1})");
  EXPECT_EQ(spire.model, "wide");
  EXPECT_EQ(spire.sets.at("biased"), "1");  // which its file says, and a default does not undo
  EXPECT_EQ(spire.sets.at("heads"), "4");
  EXPECT_EQ(wrong(R"({"architecture": "spire", "act": "gelu"})"),
            "config.json:1:34: 'act' is \"gelu\", which tower.json does not honour; it honours \"relu\"");
}

TEST_F(ConfigTest, WhatTheNetworkWouldNotHonourIsRefusedByName) {
  EXPECT_EQ(wrong(R"({"model_type": "tower", "hidden": 4, "scale": 2})").substr(0, 98),
            "config.json:1:38: 'scale' is 2, which tower.json does not honour; it knows is_encoder_decoder, is_");
  EXPECT_EQ(wrong(R"({"model_type": "tower"})"),
            "config.json:1:1: lacks 'hidden', which tower.json needs for its var width");
  EXPECT_NE(wrong(R"({"model_type": "tower", "hidden": 4, "maxpositions": 2})").find("did you mean 'max_positions'?"),
            std::string::npos);
  const auto tower = [&](const std::string& more) {
    return wrong(R"({"model_type": "tower", "hidden": 4, )" + more + "}");
  };
  EXPECT_EQ(tower(R"("heads": 3)"), "config.json:1:47: 'heads' is 3; tower.json needs width % heads == 0");
  EXPECT_EQ(tower(R"("inner": 12)"),
            "config.json:1:47: 'inner' is 12, which tower.json does not honour; it honours 16");
  EXPECT_EQ(tower(R"("kinds": ["full", "slid"])"),
            "config.json:1:47: 'kinds' is not the same for all layers, which tower.json does not honour");
  EXPECT_EQ(tower(R"("kinds": ["full", "full", "full"])"), "config.json:1:47: 'kinds' has 3 items, expected 2");
  EXPECT_EQ(tower(R"("kinds": ["slid", "slid"])").find("config.json:1:48: 'kinds' is \"slid\", which tower"), 0U);
  EXPECT_EQ(tower(R"("act": ["gelu", "gelu"])"),
            "config.json:1:45: 'act' is [\"gelu\",\"gelu\"], which tower.json does not honour; it honours \"gelu\"");
  EXPECT_EQ(tower(R"("theta": 5, "rope": {"theta": 6})"),
            "config.json:1:68: 'rope.theta' says that base is 6, another key that it is 5");
  EXPECT_EQ(tower(R"("rope": {"kind": "bent"})"),
            "config.json:1:55: 'rope.kind' is \"bent\", which tower.json does not honour; it honours plain, other");
  EXPECT_EQ(tower(R"("rope": {"kind": ["plain", "other"]})"),
            "config.json:1:55: 'rope.kind' is not the same for all layers, which tower.json does not honour");
  EXPECT_NE(tower(R"("rope": {"factor": 2})").find("'rope.factor' is 2, which tower.json does not honour"),
            std::string::npos);
  EXPECT_NE(tower(R"("rope": 3)").find("found 3, expected an object"), std::string::npos);
  EXPECT_EQ(tower(R"("theta": "=width")"), "config.json:1:47: 'theta' is \"=width\", expected a number");
  EXPECT_EQ(tower(R"("max_positions": 0.5)"),
            "config.json:1:55: 'max_positions' is 0.5, expected a whole number from 1 on");
  EXPECT_EQ(tower(R"("is_encoder_decoder": true)"),
            "config.json:1:60: 'is_encoder_decoder' is true, which tower.json does not honour; it honours false");
  EXPECT_EQ(
      tower(R"("quantization_config": {"bits": 4})"),
      "config.json:1:61: 'quantization_config' is {\"bits\":4}, which tower.json does not honour; it honours none");
  EXPECT_NE(tower(R"("theta": 1, "theta": 2)").find("key 'theta' stands twice"), std::string::npos);
}

TEST_F(ConfigTest, FlagsAndSizesAreRefusedWhereTheyStand) {
  const auto tower = [&](const std::string& more) {
    return wrong(R"({"model_type": "tower", "hidden": 4, )" + more + "}");
  };
  for (const char* flag : {"2", "0.5", "-1", "\"true\"", "[true]"})
    EXPECT_EQ(tower(message(R"("biased": )", flag)),
              message("config.json:1:48: 'biased' is ", flag, ", expected true or false"));
  for (const char* size : {"0", "-4", "2.5", "1e30"})
    EXPECT_EQ(tower(message(R"("heads": )", size)).substr(0, 17), "config.json:1:47:") << size;
  EXPECT_EQ(tower(R"("heads": -4)"), "config.json:1:47: 'heads' is -4, expected a whole number from 1 on");
  EXPECT_EQ(tower(R"("heads": true)"), "config.json:1:47: 'heads' is true, expected a number");
  EXPECT_EQ(tower(R"("theta": true)"), "config.json:1:47: 'theta' is true, expected a number");
  for (const char* names : {"{}", "[]", "3"})
    EXPECT_EQ(tower(message(R"("id2label": )", names)),
              message("config.json:1:50: 'id2label' is ", names, ", expected a name for each"));
  EXPECT_EQ(read(R"({"model_type": "tower", "hidden": 4, "heads": 2.0})").sets.at("heads"), "2");
}

TEST_F(ConfigTest, AnUnknownKindIsToldWhichAreKnown) {
  const std::string unknown = wrong(R"({"model_type": "mamba"})");
  EXPECT_EQ(unknown.rfind("config.json:1:16: no network file is for models of type 'mamba'; known: ", 0), 0U);
  EXPECT_NE(unknown.find("gpt2, llama, mistral, qwen2, qwen3"), std::string::npos) << unknown;
  EXPECT_NE(wrong(R"({"model_type": "towr"})").find("did you mean 'tower'?"), std::string::npos);
  EXPECT_EQ(wrong("{}"), "config.json:1:1: says no 'model_type', which is what kind of model it is of");
  EXPECT_EQ(wrong("[]"), "config.json:1:1: says no 'model_type', which is what kind of model it is of");
  EXPECT_NE(wrong("model"), "(nothing)");
  fs::remove(folder_ / "config.json");
  EXPECT_TRUE(fails_with("config.json", [&] { read_config((folder_ / "config.json").string()); }));
}

TEST_F(ConfigTest, AWrongConfigOfANetworkFileIsFoundWhereverTheFileIsRead) {
  const auto wrong_network = [&](const std::string& config) {
    put("bad.json", R"({"version": 1, "inputs": {"x": {"shape": [2]}}, "vars": {"n": 1}, "layers": [{"op": "relu"}],
 "config": )" + config + "}");
    return error_of([&] { load_network((folder_ / "bad.json").string(), {}); }).substr(folder_.string().size() + 1);
  };
  EXPECT_EQ(wrong_network(R"({"a": {"keys": {"k": {"var": "m"}}}})"),
            "bad.json:2:41: no var 'm'; did you mean 'n'?; known: n");
  EXPECT_EQ(wrong_network(R"({"a": {"set": {"m": 1}}})"), "bad.json:2:32: no var 'm'; did you mean 'n'?; known: n");
  EXPECT_EQ(wrong_network(R"({"a": {"variant": "v"}})"), "bad.json:2:30: no variant 'v'; known: none");
  EXPECT_EQ(wrong_network(R"({"a": {"like": "b"}, "b": {}})"),
            "bad.json:2:27: no family before this one is called 'b'; known: none");
  EXPECT_NE(wrong_network(R"({"a": {"keys": {"k": {"vars": "n"}}}})").find("unknown key 'vars'"), std::string::npos);
  EXPECT_EQ(wrong_network(R"({"a": {"keys": {"k": {"if": "n"}}}})"),
            "bad.json:2:40: found \"n\", expected an \"=expression\"");
}

}  // namespace
}  // namespace lethe::testing
