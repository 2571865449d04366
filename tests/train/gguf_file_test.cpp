// GGUF files as they are written and read, and what is said of wrong ones.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "tests/train/data_samples.h"
#include "tests/train/gguf_samples.h"
#include "train/session/gguf_reader.h"
#include "train/session/gguf_writer.h"

namespace lethe::testing {
namespace {

/// A file, number by number.
struct GgufBytes {
  std::string all = {};
  template <class Number>
  GgufBytes& put(Number value) {
    all.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  GgufBytes& text(const std::string& value) {
    put(std::uint64_t{value.size()});
    all += value;
    return *this;
  }
  GgufBytes& front(std::uint64_t tensors, std::uint64_t keys, std::uint32_t version = 3) {
    all += "GGUF";
    return put(version).put(tensors).put(keys);
  }
  /// Sizes from the innermost on.
  GgufBytes& tensor(const std::string& name, const std::vector<std::uint64_t>& sizes, std::uint32_t type,
                    std::uint64_t offset) {
    text(name).put(static_cast<std::uint32_t>(sizes.size()));
    for (const std::uint64_t size : sizes) put(size);
    return put(type).put(offset);
  }
  GgufBytes& alignment(std::uint32_t value) { return text("general.alignment").put(std::uint32_t{4}).put(value); }
  /// Up to the data, and these.
  GgufBytes& data(std::size_t bytes) {
    all.resize((all.size() + 31) / 32 * 32 + bytes);
    return *this;
  }
};

constexpr std::uint32_t kF32 = 0, kQ41 = 3, kQ6K = 14;

class GgufFile : public ::testing::Test {
 protected:
  std::string file() const { return folder_.text() + "/m.gguf"; }
  std::string put(const GgufBytes& bytes) const {
    folder_.write("m.gguf", bytes.all);
    return file();
  }
  /// What reading it fails with, after the file's name.
  std::string complaint(const GgufBytes& bytes) const {
    const std::string named = put(bytes), error = error_from([&] { GgufReader reader(named); });
    return error.starts_with(named + ": ") ? error.substr(named.size() + 2) : error;
  }
  TemporaryFolder folder_;
};

TEST_F(GgufFile, GivesBackWhatWasWritten) {
  const GgufEntries entries = {
      {.key = "u8", .type = GgufType::U8, .value = 255},
      {.key = "i8", .type = GgufType::I8, .value = -128},
      {.key = "u16", .type = GgufType::U16, .value = 65535},
      {.key = "i16", .type = GgufType::I16, .value = -32768},
      {.key = "u32", .type = GgufType::U32, .value = std::numeric_limits<std::uint32_t>::max()},
      {.key = "i32", .type = GgufType::I32, .value = std::numeric_limits<std::int32_t>::min()},
      {.key = "f32", .type = GgufType::F32, .value = 1e-5},
      {.key = "bool", .type = GgufType::Bool, .value = true},
      {.key = "text", .type = GgufType::Text, .value = "caf\xc3\xa9\n"},
      {.key = "u64", .type = GgufType::U64, .value = std::numeric_limits<std::uint64_t>::max()},
      {.key = "i64", .type = GgufType::I64, .value = std::numeric_limits<std::int64_t>::min()},
      {.key = "f64", .type = GgufType::F64, .value = 0.1},
      {.key = "texts", .type = GgufType::Text, .value = {"a", "", "b"}},
      {.key = "numbers", .type = GgufType::I32, .value = {1, -2}},
      {.key = "none", .type = GgufType::F32, .value = Json::array()}};
  std::vector<std::byte> blocks(40, std::byte{7}), floats(12, std::byte{3}), halves(4, std::byte{9});
  GgufWriter writer(file(), entries,
                    {{.name = "q", .dtype = DType::q4_1, .shape = {2, 32}},
                     {.name = "f", .shape = {3}},
                     {.name = "h", .dtype = DType::bf16, .shape = {1, 2, 1}}});
  for (const auto* data : {&blocks, &floats, &halves}) writer.write(*data);
  writer.finish();
  const GgufHeader header = read_gguf_header(file());
  ASSERT_EQ(header.entries.size(), entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(header.entries[i].key, entries[i].key);
    EXPECT_EQ(header.entries[i].type, entries[i].type) << entries[i].key;
    EXPECT_EQ(header.entries[i].value.dump(), entries[i].value.dump()) << entries[i].key;
  }
  GgufReader reader(file());
  ASSERT_EQ(reader.tensors().size(), 3U);
  EXPECT_EQ(type_and_shape(reader.tensors()[0]), "q4_1[2,32]");
  EXPECT_EQ(type_and_shape(reader.tensors()[2]), "bf16[1,2,1]");
  EXPECT_EQ(reader.read(reader.tensors()[0]), blocks);
  EXPECT_EQ(reader.read(reader.tensors()[1]), floats);
  EXPECT_EQ(reader.read(reader.tensors()[2]), halves);
  EXPECT_EQ(std::filesystem::file_size(file()) % 32, 0U);
}

TEST_F(GgufFile, KnowsBySizeWhatItDoesNotRead) {
  put(GgufBytes().front(2, 0).tensor("k", {256, 2}, kQ6K, 0).tensor("f", {8}, kF32, 448).data(480));
  const GgufReader reader(file());
  EXPECT_EQ(type_and_shape(*reader.find("k")), "Q6_K[2,256]");
  EXPECT_EQ(reader.find("k")->bytes(), 420);
  EXPECT_EQ(type_and_shape(*reader.find("f")), "f32[8]");
}

TEST_F(GgufFile, TakesTheAlignmentThatItStates) {
  put(GgufBytes().front(2, 1).alignment(4).tensor("a", {1}, kF32, 0).tensor("b", {1}, kF32, 4));
  std::filesystem::resize_file(file(), (std::filesystem::file_size(file()) + 3) / 4 * 4 + 8);
  EXPECT_EQ(GgufReader(file()).find("b")->begin, 4);
}

TEST_F(GgufFile, RefusesOtherVersionsAndFiles) {
  EXPECT_EQ(complaint({"PK\3\4"}), "is no GGUF file: it begins otherwise than with \"GGUF\"");
  EXPECT_EQ(complaint(GgufBytes().front(0, 0, 2)), "is GGUF of version 2, which is not read (known: 3)");
  EXPECT_EQ(complaint(GgufBytes().front(0, 0, 3U << 24U)), "is a GGUF file of big endian numbers, which is not read");
}

TEST_F(GgufFile, RefusesEveryCut) {
  GgufWriter writer(file(), byte_pair_keys(), {{.name = "w", .dtype = DType::q8_0, .shape = {2, 32}}});
  writer.write(std::vector<std::byte>(68));
  writer.finish();
  std::string whole;
  {
    std::ifstream in(file(), std::ios::binary);
    whole.assign(std::istreambuf_iterator<char>(in), {});
  }
  for (std::size_t bytes = 0; bytes < whole.size() - 28; bytes += bytes < 64 ? 1 : 97)  // the last ones are padding
    EXPECT_NE(complaint({whole.substr(0, bytes)}), "") << bytes;
  EXPECT_EQ(complaint({whole.substr(0, whole.size() - 64)}),
            "tensor 'w': ends at byte 68 of the data, but only 32 are there: the file is truncated");
}

TEST_F(GgufFile, RefusesCountsAndLengthsBeyondTheFile) {
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 60;
  EXPECT_EQ(complaint(GgufBytes().front(0, kHuge)), "states 1152921504606846976 keys, for which the file is too short");
  EXPECT_EQ(complaint(GgufBytes().front(kHuge, 0)), "states 1152921504606846976 tensors in 24 bytes");
  EXPECT_EQ(complaint(GgufBytes().front(0, 1).put(kHuge).data(32)),
            "ends within its header, of which 1152921504606846976 bytes more are to stand at byte 32: the file is "
            "truncated or damaged");
  const std::uint32_t array = 9, text = 8, byte = 0;
  EXPECT_EQ(complaint(GgufBytes().front(0, 1).text("a").put(array).put(text).put(kHuge).data(32)),
            "'a': states 1152921504606846976 items, for which the file is too short");
  EXPECT_EQ(complaint(GgufBytes().front(0, 1).text("a").put(array).put(byte).put(~std::uint64_t{0}).data(32)),
            "'a': states 18446744073709551615 items, for which the file is too short");
}

TEST_F(GgufFile, RefusesValuesThatAreNone) {
  EXPECT_EQ(complaint(GgufBytes().front(0, 1).text("a").put(std::uint32_t{13}).data(32)),
            "'a': has a value of type 13, which is not known");
  EXPECT_EQ(complaint(GgufBytes().front(0, 1).text("a").put(std::uint32_t{7}).put('\2').data(32)),
            "'a': is 2, expected 0 or 1 for false or true");
  EXPECT_EQ(complaint(GgufBytes().front(0, 1).text("a\xff").data(64)), "has a text that is no UTF-8, 'a\xff'");
  EXPECT_EQ(complaint(GgufBytes().front(0, 2).alignment(32).alignment(32).data(0)),
            "'general.alignment': stands twice");
  EXPECT_EQ(complaint(GgufBytes().front(0, 1).alignment(24).data(0)),
            "'general.alignment' is 24, expected a power of two up to 1048576");
  EXPECT_EQ(complaint(GgufBytes().front(0, 1).alignment(0).data(0)),
            "'general.alignment' is 0, expected a power of two up to 1048576");
  GgufBytes deep = GgufBytes().front(0, 1).text("a");
  for (int i = 0; i < 6; ++i) deep.put(std::uint32_t{9}), i > 0 ? deep.put(std::uint64_t{1}) : deep;
  EXPECT_EQ(complaint(deep.data(64)), "'a': has arrays nested deeper than 4");
}

TEST_F(GgufFile, RefusesTensorsThatDoNotFit) {
  const auto one = [&](const std::vector<std::uint64_t>& sizes, std::uint32_t type, std::uint64_t offset,
                       std::size_t bytes) {
    return complaint(GgufBytes().front(1, 0).tensor("t", sizes, type, offset).data(bytes));
  };
  GgufReader(put(GgufBytes().front(1, 0).tensor("t", {2, 4}, kF32, 0).data(32)));
  EXPECT_EQ(one({}, kF32, 0, 32), "tensor 't': has 0 sizes, expected 1 to 4");
  EXPECT_EQ(one({1, 1, 1, 1, 1}, kF32, 0, 32), "tensor 't': has 5 sizes, expected 1 to 4");
  EXPECT_EQ(one({0, 4}, kF32, 0, 32), "tensor 't': has a side of 0, expected a whole number from 1 on");
  EXPECT_EQ(one({std::uint64_t{1} << 60, 1 << 20}, kF32, 0, 32),
            "tensor 't': [1048576,1152921504606846976] has too many elements: more than 2^40");
  EXPECT_EQ(one({8}, 4, 0, 32), "tensor 't': is of type 4, which is not known");
  EXPECT_EQ(one({48, 2}, kQ41, 0, 64),
            "tensor 't': has rows of 48 numbers, expected a multiple of 32, of which a block of Q4_1 consists");
  EXPECT_EQ(one({8}, kF32, 8, 64), "tensor 't': begins at byte 8 of the data, expected a multiple of 32");
  EXPECT_EQ(one({8}, kF32, 32, 64), "tensor 't': begins at byte 32 of the data, which leaves a hole, expected 0");
  EXPECT_EQ(one({8}, kF32, std::uint64_t{1} << 60, 32),
            "tensor 't': begins at byte 1152921504606846976 of the data, beyond the end of the file");
  EXPECT_EQ(one({16}, kF32, 0, 32),
            "tensor 't': ends at byte 64 of the data, but only 32 are there: the file is truncated");
  EXPECT_EQ(one({8}, kF32, 0, 64), "has 64 bytes of data, its tensors 32");
  EXPECT_EQ(complaint(GgufBytes().front(2, 0).tensor("a", {16}, kF32, 0).tensor("b", {8}, kF32, 32).data(96)),
            "tensor 'b': begins at byte 32 of the data, inside the tensor before it, expected 64");
  EXPECT_EQ(complaint(GgufBytes().front(2, 0).tensor("a", {8}, kF32, 0).tensor("a", {8}, kF32, 32).data(64)),
            "tensor 'a': stands twice");
}

TEST_F(GgufFile, WritesNothingThatItWouldNotRead) {
  EXPECT_EQ(error_from([&] {
              GgufWriter(file(), {}, {{.name = "t", .dtype = DType::q4_0, .shape = {2, 31}}});
            }),
            "tensor 't' is q4_0[2,31], which GGUF does not have");
  EXPECT_EQ(error_from([&] {
              GgufWriter(file(), {}, {{.name = "t", .dtype = DType::nf4, .shape = {2, 64}}});
            }),
            "tensor 't' is nf4[2,64], which GGUF does not have");
  EXPECT_FALSE(std::filesystem::exists(file()));
}

}  // namespace
}  // namespace lethe::testing
