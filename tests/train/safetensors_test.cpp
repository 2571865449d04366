#include "train/session/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "framework/random.h"
#include "models/json_source.h"
#include "tests/train/data_samples.h"

namespace lethe::testing {
namespace {

std::vector<std::byte> bytes_with(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A file of that header and `data` zero bytes after it.
std::string file_with(const std::string& header, std::size_t data) {
  std::string text;
  for (int i = 0; i < 8; ++i) text += static_cast<char>(header.size() >> (8 * i));
  return message(text, header, std::string(data, '\0'));
}

class Safetensors : public ::testing::Test {
 protected:
  std::string file() const { return (folder_.path() / "w.safetensors").string(); }
  void put(const std::string& content) const { folder_.write("w.safetensors", content); }
  void write_two() const {
    SafetensorsWriter writer(file(), {{.name = "a", .shape = {1, 2}}, {.name = "b", .dtype = DType::u8, .shape = {3}}},
                             {{"format", "pt"}});
    writer.write(bytes_with({1, 2, 3, 4, 5, 6, 7, 8}));
    writer.write(bytes_with({9, 10, 11}));
    writer.finish();
  }
  std::string refusal(const std::string& header, std::size_t data) const {
    put(file_with(header, data));
    return error_from([&] { SafetensorsReader reader(file()); });
  }

  TemporaryFolder folder_;
};

TEST_F(Safetensors, WritesTheFormatByteForByte) {
  write_two();
  const std::string header =
      R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},)"
      R"("b":{"dtype":"U8","shape":[3],"data_offsets":[8,11]}})";
  const std::string padded = message(header, std::string((8 - header.size() % 8) % 8, ' '));
  std::string expected = file_with(padded, 11);
  for (int i = 0; i < 11; ++i) expected[8 + padded.size() + i] = static_cast<char>(i + 1);
  EXPECT_EQ(content_of(file()), expected);
}

TEST_F(Safetensors, ReadsWhatItWrote) {
  write_two();
  SafetensorsReader reader(file());
  ASSERT_EQ(reader.tensors().size(), 2u);
  EXPECT_EQ(reader.metadata(), (Metadata{{"format", "pt"}}));
  ASSERT_TRUE(reader.find("b"));
  EXPECT_EQ(reader.find("b")->shape, Shape{3});
  EXPECT_EQ(reader.find("b")->dtype, DType::u8);
  EXPECT_EQ(reader.read(*reader.find("b")), bytes_with({9, 10, 11}));
  EXPECT_EQ(reader.read(*reader.find("a")), bytes_with({1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(reader.find("c"), nullptr);
}

TEST_F(Safetensors, HoldsNumbersInBlocksAsBytes) {
  std::vector<std::byte> blocks(2 * 260);
  for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i] = static_cast<std::byte>(i);
  {
    SafetensorsWriter writer(file(), {{.name = "w@m", .dtype = DType::dynamic8, .shape = {3, 100}}},
                             {{"format", "pt"}});
    writer.write(blocks);
    writer.finish();
  }
  EXPECT_PRED2(says, content_of(file()), R"("w@m":{"dtype":"U8","shape":[520],"data_offsets":[0,520]})");
  EXPECT_PRED2(says, content_of(file()), R"(\"dtype\":\"dynamic8\",\"shape\":[3,100],\"block\":256)");
  SafetensorsReader reader(file());
  const TensorEntry& tensor = *reader.find("w@m");
  EXPECT_TRUE(tensor.is_of(DType::dynamic8));
  EXPECT_EQ(tensor.shape, (Shape{3, 100}));
  EXPECT_EQ(reader.read(tensor), blocks);
  EXPECT_EQ(reader.metadata(), (Metadata{{"format", "pt"}}));
}

TEST_F(Safetensors, RefusesBlocksThatItsMetadataDoNotFit) {
  const auto said = [&](const std::string& dtypes, const std::string& tensor = R"("dtype":"U8","shape":[520])") {
    return refusal(message(R"({"__metadata__":{"lethe.dtypes":)", Json(dtypes).dump(), R"(},"w":{)", tensor,
                           R"(,"data_offsets":[0,520]}})"),
                   520);
  };
  EXPECT_PRED2(says, said(R"({"w":{"dtype":"dynamic8","shape":[300],"block":2048}})"),
               "tensor 'w': lethe.dtypes:1:6: has blocks of 2048, this program reads dynamic8 in blocks of 256");
  EXPECT_PRED2(says, said(R"({"w":{"dtype":"dynamic8","shape":[513],"block":256}})"),
               "dynamic8[513] are not of 520 bytes");
  EXPECT_PRED2(says, said(R"({"w":{"dtype":"dynamic8","shape":[9223372036854775807],"block":256}})"),
               "too many elements");
  EXPECT_PRED2(says, said(R"({"w":{"dtype":"q8_0","shape":[300],"block":32}})"), "q8_0 is for matrices, not for [300]");
  EXPECT_PRED2(says, said(R"({"w":{"dtype":"f32","shape":[130],"block":1}})"), "f32 are not in blocks");
  EXPECT_PRED2(says, said(R"({"v":{"dtype":"dynamic8","shape":[300],"block":256}})"), "the file has no tensor 'v'");
  EXPECT_PRED2(says, said(R"({"w":{"dtype":"dynamic8","shape":[300],"block":256}})", R"("dtype":"F32","shape":[130])"),
               "the tensor is f32[130], expected u8 of one axis");
  EXPECT_PRED2(says, said("{"), "lethe.dtypes");
}

TEST_F(Safetensors, KeepsScalarsAndNamesWithQuotes) {
  {
    SafetensorsWriter writer(file(), {{.name = "stage1/\"odd\"\n", .dtype = DType::i64}});
    writer.write(std::vector<std::byte>(8));
    writer.finish();
  }
  const SafetensorsReader reader(file());
  EXPECT_EQ(reader.tensors().front().name, "stage1/\"odd\"\n");
  EXPECT_EQ(reader.tensors().front().shape, Shape{});
}

TEST_F(Safetensors, ReadsTensorsWhateverTheirOrderInTheHeader) {
  put(file_with(R"({"b":{"dtype":"U8","shape":[2],"data_offsets":[4,6]},"a":{"shape":[1],"dtype":"I32",)"
                R"("data_offsets":[0,4]}}  )",
                6));
  const SafetensorsReader reader(file());
  EXPECT_EQ(reader.tensors().front().name, "a");
}

TEST_F(Safetensors, RefusesMalformedHeaders) {
  const struct {
    const char* header;
    std::size_t data;
    const char* words;
  } cases[] = {
      {R"([])", 0, "does not start with '{'"},
      {"", 0, "does not start with '{'"},
      {R"({"a":)", 0, "not valid JSON"},
      {"{\"a\xff\":1}", 0, "not valid JSON"},
      {R"({"a":3})", 0, "tensor 'a': is 3, expected an object"},
      {R"({"a":{"shape":[1],"data_offsets":[0,4]}})", 4, "tensor 'a': 'dtype' is missing"},
      {R"({"a":{"dtype":"","shape":[1],"data_offsets":[0,4]}})", 4, "tensor 'a': 'dtype' is empty"},
      {R"({"a":{"dtype":"F32","shape":1,"data_offsets":[0,4]}})", 4, "tensor 'a': 'shape' is 1, expected a list"},
      {R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4, "'shape' holds -1, expected a whole number"},
      {R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})", 4, "'shape' holds 1.5"},
      {R"({"a":{"dtype":"F32","shape":[4611686018427387904,8],"data_offsets":[0,0]}})", 0, "too many elements"},
      {R"({"a":{"dtype":"F32","shape":[562949953421313],"data_offsets":[0,4]}})", 4, "too many elements"},
      {R"({"a":{"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4]}})", 4, "expected a whole number"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", 4, "expected [begin, end]"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4, "span -4 bytes"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4,
       "tensor 'a': 'data_offsets' span 4 bytes, f32[2] has 8"},
      {R"({"__metadata__":{"epoch":3}})", 0, "'epoch' is 3, expected text"},
      {R"({"__metadata__":"no"})", 0, "expected an object"},
  };
  for (const auto& c : cases) {
    const std::string error = refusal(c.header, c.data);
    EXPECT_PRED2(says, error, c.words);
    EXPECT_PRED2(says, error, file());
  }
}

TEST_F(Safetensors, KeepsTensorsOfOtherDTypesByTheirNameAndBytes) {
  put(file_with(R"({"mask":{"dtype":"BOOL","shape":[2,3],"data_offsets":[0,6]},)"
                R"("packed":{"dtype":"F4","shape":[4],"data_offsets":[6,8]},)"
                R"("a":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}})",
                12));
  SafetensorsReader reader(file());
  ASSERT_TRUE(reader.find("mask") && reader.find("packed") && reader.find("a"));
  EXPECT_EQ(type_and_shape(*reader.find("mask")), "BOOL[2,3]");
  EXPECT_EQ(type_and_shape(*reader.find("packed")), "F4[4]");
  EXPECT_EQ(type_and_shape(*reader.find("a")), "f32[1]");
  EXPECT_EQ(reader.read(*reader.find("packed")).size(), 2U);
  EXPECT_EQ(reader.read(*reader.find("a")).size(), 4U);
  EXPECT_PRED2(says, refusal(R"({"mask":{"dtype":"BOOL","shape":[9],"data_offsets":[8,0]}})", 8), "span -8 bytes");
  EXPECT_PRED2(says, refusal(R"({"mask":{"dtype":"BOOL","shape":[9],"data_offsets":[0,9]}})", 8), "is truncated");
}

TEST_F(Safetensors, SaysWhatAnotherFileIs) {
  const auto said_of = [&](const std::string& content) {
    put(content + std::string(64, ' '));
    return error_from([&] { SafetensorsReader reader(file()); });
  };
  EXPECT_EQ(said_of(R"({"metadata": {"total_size": 5}, "weight_map": {"a": "model-00001-of-00002.safetensors"}})"),
            file() + ": is JSON; the index of weights in several files has a name that ends in .index.json");
  const std::pair<std::string, const char*> others[] = {
      {"PK\3\4", "is a zip archive, as PyTorch's .bin, .pt and .pth files are"},
      {std::string("\x80\x02\x8a\n", 4), "is a pickle, as PyTorch's older .bin, .pt and .pth files are"},
      {"\x80\x04\x95", "is a pickle"},
      {"GGUF", "is a GGUF file"},
      {"\x89HDF\r\n\x1a\n", "is an HDF5 file, as Keras's .h5 files are"},
      {"\x93NUMPY", "is a NumPy file"},
      {"version https://git-lfs.github.com/spec/v1\n", "is a pointer of Git LFS, which stands for the file itself"},
      {"<!DOCTYPE html>", "is a page of the web"},
      {"<html>", "is a page of the web"},
      {"\x1f\x8b", "is packed by gzip"}};
  for (const auto& [front, words] : others) {
    const std::string said = said_of(front);
    EXPECT_PRED2(says, said, message(file(), ": ", words));
    EXPECT_EQ(said.find("header of"), std::string::npos) << said;
  }
  put("PK\3\4");
  EXPECT_PRED2(says, error_from([&] { SafetensorsReader reader(file()); }), "is a zip archive");
}

TEST_F(Safetensors, RefusesAHeaderThatIsNestedDeep) {
  const std::string lists = std::string(200000, '[') + std::string(200000, ']');
  EXPECT_PRED2(says, refusal(message(R"({"a":)", lists, "}"), 0), "the header is nested deeper than 100");
}

TEST_F(Safetensors, RefusesDuplicatesOverlapsHolesAndWrongLengths) {
  const std::string a = R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  EXPECT_PRED2(says, refusal(message("{", a, ",", a, "}"), 4), "tensor 'a' is there twice");
  EXPECT_PRED2(says, refusal(message("{", a, R"(,"b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})"), 6),
               "tensor 'b' begins at byte 2, inside the tensor before it");
  EXPECT_PRED2(says, refusal(message("{", a, R"(,"b":{"dtype":"F32","shape":[1],"data_offsets":[5,9]}})"), 9),
               "tensor 'b' begins at byte 5, which leaves a hole, expected 4");
  EXPECT_PRED2(says, refusal(message("{", a, "}"), 3), "tensor 'a' ends at byte 4 of the data, but only 3 are there");
  EXPECT_PRED2(says, refusal(message("{", a, "}"), 5), "the data has 5 bytes, its tensors 4");
}

TEST_F(Safetensors, RefusesAbsurdHeaderLengths) {
  put(std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10));
  EXPECT_PRED2(says, error_from([&] { SafetensorsReader reader(file()); }), "this is no safetensors file");
  put(std::string("\x01\xe1\xf5\x05\0\0\0\0{}", 10));  // 100,000,001
  EXPECT_PRED2(says, error_from([&] { SafetensorsReader reader(file()); }), "header of 100000001 bytes");
}

TEST_F(Safetensors, RefusesEveryTruncation) {
  write_two();
  const std::string whole = content_of(file());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    put(whole.substr(0, length));
    EXPECT_PRED2(says, error_from([&] { SafetensorsReader reader(file()); }), file());
  }
}

TEST_F(Safetensors, SurvivesRandomCorruption) {
  write_two();
  const std::string whole = content_of(file());
  Random random(7);
  for (int round = 0; round < 300; ++round) {
    std::string broken = whole;
    for (std::uint32_t flips = 1 + random.below(3); flips > 0; --flips)
      broken[random.below(static_cast<std::uint32_t>(broken.size()))] = static_cast<char>(random.below(256));
    put(broken);
    try {
      SafetensorsReader reader(file());
      for (const TensorEntry& tensor : reader.tensors()) reader.read(tensor);
    } catch (const Error& error) {
      EXPECT_EQ(error.code, Exit::Data);
    }
  }
}

TEST_F(Safetensors, RefusesMissingFilesAndFolders) {
  EXPECT_PRED2(says, error_from([&] { SafetensorsReader reader(file()); }), "cannot be opened");
  EXPECT_PRED2(says, error_from([&] { SafetensorsReader reader(folder_.text()); }), "cannot be opened");
}

TEST_F(Safetensors, UnfinishedWritingLeavesTheOldFile) {
  write_two();
  const std::string old = content_of(file());
  {
    SafetensorsWriter writer(file(), {{.name = "a", .shape = {100}}});
    writer.write(std::vector<std::byte>(400));
  }
  EXPECT_EQ(content_of(file()), old);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

TEST_F(Safetensors, WriterHoldsToWhatWasAnnounced) {
  const auto announced = std::vector<TensorEntry>{{.name = "a", .shape = {1}}};
  error_from([&] { SafetensorsWriter(file(), announced).write(std::vector<std::byte>(3)); }, Exit::Internal);
  error_from([&] { SafetensorsWriter(file(), announced).finish(); }, Exit::Internal);
}

}  // namespace
}  // namespace lethe::testing
