// Weights as bitsandbytes has them in files.
#include "train/session/bitsandbytes.h"

#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "framework/language/block_formats.h"
#include "tests/support/expect_error.h"
#include "tests/train/data_samples.h"
#include "train/session/library_weights.h"
#include "train/session/number_blocks.h"
#include "train/session/safetensors.h"

namespace lethe::testing {
namespace {

class Bitsandbytes : public ::testing::Test {
 protected:
  static std::vector<std::byte> some_floats(std::int64_t count) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i % 37 - 18) / 64);
    const auto* const begin = reinterpret_cast<const std::byte*>(values.data());
    return {begin, begin + values.size() * sizeof(float)};
  }
  static std::vector<NamedTensor> quantised(DType dtype, const Shape& shape) {
    const std::vector<std::byte> blocks = converted(some_floats(elements(shape)), DType::f32, dtype, shape);
    return bitsandbytes_tensors({.name = "a.weight", .dtype = dtype, .shape = shape}, blocks);
  }
  std::string written(const std::vector<NamedTensor>& tensors) const {
    std::vector<TensorEntry> entries;
    for (const NamedTensor& tensor : tensors) entries.push_back(tensor.entry);
    const std::string file = (folder_.path() / "w.safetensors").string();
    SafetensorsWriter writer(file, entries);
    for (const NamedTensor& tensor : tensors) writer.write(tensor.data);
    writer.finish();
    return file;
  }
  /// Of a file where one tensor is changed.
  template <class Change>
  std::string error_after(DType dtype, const std::string& name, const Change& change) const {
    std::vector<NamedTensor> tensors = quantised(dtype, {4, 96});
    const auto found = std::ranges::find(tensors, name, [](const NamedTensor& t) { return t.entry.name; });
    change(tensors, *found);
    const std::string file = written(tensors);
    std::string error = error_of([&] {
      const std::unique_ptr<TensorReader> reader = open_weights(file);
      reader->read(*reader->find("a.weight"));
    });
    return error.substr(std::min(error.size(), file.size() + 2));
  }

  TemporaryFolder folder_;
};

TEST_F(Bitsandbytes, WeightsComeBackFromTheTensorsThatTheyAre) {
  for (const DType dtype : {DType::int8, DType::nf4, DType::nf4_dq})
    for (const Shape& shape : {Shape{4, 96}, Shape{5, 37}, Shape{300, 64}}) {
      SCOPED_TRACE(message(name_of(dtype), text_of(shape)));
      const std::unique_ptr<TensorReader> reader = open_weights(written(quantised(dtype, shape)));
      ASSERT_EQ(reader->tensors().size(), 1U);
      const TensorEntry& tensor = reader->tensors().front();
      EXPECT_EQ(tensor.name, "a.weight");
      EXPECT_EQ(tensor.dtype, dtype);
      EXPECT_EQ(tensor.shape, shape);
      EXPECT_EQ(reader->read(tensor), converted(some_floats(elements(shape)), DType::f32, dtype, shape));
    }
}

TEST_F(Bitsandbytes, AFileHasTheTensorsThatTransformersExpects) {
  const auto names = [](DType dtype) {
    std::vector<std::string> all;
    for (const NamedTensor& tensor : quantised(dtype, {4, 96}))
      all.push_back(type_and_shape(tensor.entry) + ' ' + tensor.entry.name);
    return all;
  };
  EXPECT_EQ(names(DType::int8), (std::vector<std::string>{"I8[4,96] a.weight", "f32[4] a.SCB"}));
  EXPECT_EQ(names(DType::nf4)[0], "u8[192,1] a.weight");
  EXPECT_EQ(names(DType::nf4)[1], "f32[6] a.weight.absmax");
  EXPECT_EQ(names(DType::nf4_dq)[1], "u8[6] a.weight.absmax");
  EXPECT_EQ(names(DType::nf4_dq)[3], "f32[1] a.weight.nested_absmax");
  const NamedTensor state = quantised(DType::nf4_dq, {4, 96}).back();
  const auto json = nlohmann::json::parse(reinterpret_cast<const char*>(state.data.data()),
                                          reinterpret_cast<const char*>(state.data.data()) + state.data.size());
  EXPECT_EQ(json["shape"], (nlohmann::json{4, 96}));
  EXPECT_EQ(json["nested_blocksize"], 256);
}

TEST_F(Bitsandbytes, RefusesInOneLineWhatItCannotHonour) {
  const std::string state = "a.weight.quant_state.bitsandbytes__nf4";
  const auto says = [&](const std::string& text) {
    return error_after(DType::nf4_dq, state, [&](auto&, NamedTensor& tensor) {
      tensor.data.assign(reinterpret_cast<const std::byte*>(text.data()),
                         reinterpret_cast<const std::byte*>(text.data()) + text.size());
      tensor.entry.shape = {std::ssize(text)};
    });
  };
  const std::string whose = "tensor '" + state + "': ";
  EXPECT_EQ(says("{"), whose + "is no JSON object");
  EXPECT_EQ(says(R"({"blocksize":128,"shape":[4,96]})"), whose + "has no \"blocksize\" of 64");
  EXPECT_EQ(says(R"({"blocksize":64,"shape":[4,-96]})"), whose + "has a \"shape\" of [4,-1]");
  EXPECT_EQ(says(R"({"blocksize":64,"shape":[4,1152921504606846976]})"),
            whose + "has a \"shape\" of [4,1152921504606846976], too many elements");
  EXPECT_EQ(says(R"({"blocksize":64,"shape":[4,96],"nested_blocksize":256})"), whose + "has no \"nested_offset\"");
  EXPECT_EQ(says(R"({"blocksize":64,"shape":[4,64]})"), "tensor 'a.weight' is u8[192,1], expected u8[128,1]");
  EXPECT_EQ(error_after(DType::nf4, "a.weight.absmax",
                        [](auto& all, NamedTensor& tensor) {
                          std::erase_if(all, [&](const auto& t) { return t.entry.name == tensor.entry.name; });
                        }),
            "no tensor 'a.weight.absmax' says what 'a.weight' means");
  EXPECT_EQ(error_after(DType::nf4, "a.weight.quant_map",
                        [](auto&, NamedTensor& tensor) { std::memset(tensor.data.data() + 8, 0, 4); }),
            "tensor 'a.weight.quant_map' has 0 for code 2, nf4 has -0.525073");
  EXPECT_EQ(
      error_after(DType::nf4, state,
                  [](auto&, NamedTensor& tensor) { tensor.entry.name = "a.weight.quant_state.bitsandbytes__fp4"; }),
      "tensor 'a.weight.quant_state.bitsandbytes__fp4': weights in fp4 are not read; nf4 and int8 are");
}

TEST_F(Bitsandbytes, ScalesThatAreNoNumbersAreFound) {
  const Shape shape = {4, 96};
  for (const DType dtype : {DType::int8, DType::nf4}) {
    std::vector<std::byte> blocks = converted(some_floats(elements(shape)), DType::f32, dtype, shape);
    EXPECT_EQ(complaint_about_values(blocks, dtype, shape), "");
    const float bad = -1;
    std::memcpy(blocks.data() + block_format(dtype, shape).bytes, &bad, sizeof bad);
    EXPECT_EQ(complaint_about_values(blocks, dtype, shape),
              message("has a scale of -1 at element ", block_format(dtype, shape).elements));
  }
  std::vector<std::byte> blocks = converted(some_floats(elements(shape)), DType::f32, DType::q4_1, shape);
  const std::uint16_t infinite = 0x7C00;
  std::memcpy(blocks.data() + 22, &infinite, sizeof infinite);
  EXPECT_EQ(complaint_about_values(blocks, DType::q4_1, shape), "has a scale of inf at element 32");
}

}  // namespace
}  // namespace lethe::testing
