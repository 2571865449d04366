// Arrays of NumPy's as samples, and as files.
#include <gtest/gtest.h>

#include <cstring>

#include "framework/builder/builder.h"
#include "tests/train/data_samples.h"
#include "train/data/arrays.h"
#include "train/data/held_out.h"
#include "train/data/npy_file.h"
#include "train/session/fed_data.h"

namespace lethe::testing {
namespace {

std::string header_of(const std::string& descr, const std::string& shape, const std::string& order = "False") {
  std::string dict = "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  dict.append(63 - (10 + dict.size()) % 64, ' ').append("\n");
  const auto length = static_cast<std::uint16_t>(dict.size());
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(length & 255) + static_cast<char>(length >> 8) + dict;
}
template <class Element>
std::string npy(const std::string& descr, const std::string& shape, const std::vector<Element>& elements) {
  return header_of(descr, shape) +
         std::string(reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(Element));
}

std::vector<float> floats_of_row(const NpyFile& file, std::int64_t row) {
  std::vector<float> values(static_cast<std::size_t>(file.row_elements()));
  file.read(row, {}, DType::f32, reinterpret_cast<std::byte*>(values.data()));
  return values;
}

class Npy : public ::testing::Test {
 protected:
  std::string put(const std::string& content) const {
    folder_.write("x.npy", content);
    return folder_.text() + "/x.npy";
  }
  std::string refused(const std::string& content) const {
    const std::string file = put(content);
    return error_from([&] { NpyFile{file}; });
  }
  TemporaryFolder folder_;
};

TEST_F(Npy, ReadsEachTypeAsItIsWritten) {
  const std::vector<float> wanted = {3, 1};
  EXPECT_EQ(floats_of_row(NpyFile(put(npy<float>("<f4", "(2, 2)", {0, 0, 3, 1}))), 1), wanted);
  EXPECT_EQ(floats_of_row(NpyFile(put(npy<double>("<f8", "(2, 2)", {0, 0, 3, 1}))), 1), wanted);
  EXPECT_EQ(floats_of_row(NpyFile(put(npy<std::int32_t>("<i4", "(2, 2)", {0, 0, 3, 1}))), 1), wanted);
  EXPECT_EQ(floats_of_row(NpyFile(put(npy<std::int64_t>("<i8", "(2, 2)", {0, 0, 3, 1}))), 1), wanted);
  EXPECT_EQ(floats_of_row(NpyFile(put(npy<std::uint8_t>("|u1", "(2, 2)", {0, 0, 3, 1}))), 1), wanted);
  EXPECT_EQ(floats_of_row(NpyFile(put(npy<std::uint8_t>("|b1", "(2,)", {0, 1}))), 1), std::vector<float>{1});
}

TEST_F(Npy, SaysWhatAFileIsThatIsNoSuchArray) {
  EXPECT_PRED2(says, refused("PK"), "x.npy: is no array that numpy.save has written");
  EXPECT_PRED2(says, refused(header_of("<f4", "(2, 2)", "True") + std::string(16, '\0')),
               "x.npy: has its columns first (fortran_order), expected rows");
  EXPECT_PRED2(says, refused(header_of("<f2", "(1,)") + "ab"), "has elements of type '<f2', expected <f4, <f8, <i4");
  EXPECT_PRED2(says, refused(header_of(">f4", "(1,)") + "abcd"), "has elements of type '>f4'");
  EXPECT_PRED2(says, refused(header_of("<f4", "()") + "abcd"), "is a single number, expected an array of rows");
  EXPECT_PRED2(says, refused(header_of("<f4", "(0, 3)")), "has no elements, its shape is [0,3]");
  EXPECT_PRED2(says, refused(header_of("<f4", "(2,)") + "abcd"), "has 4 bytes of elements, its shape [2] takes more");
  EXPECT_PRED2(says, refused(header_of("<f4", "(1,)") + "abcdefgh"), "has 8 bytes of elements, its shape [1] takes 4");
  EXPECT_PRED2(says, refused(header_of("<f4", "(4611686018427387904, 4)") + "abcd"), "takes more");
  EXPECT_PRED2(says, refused(header_of("<f4", "(2, x)")), "its header is not as NumPy writes that of an array");
  std::string later = npy<float>("<f4", "(1,)", {1});
  later[6] = 3;
  EXPECT_PRED2(says, refused(later), "is of format 3.0, expected 1.0 or 2.0");
  EXPECT_PRED2(says, refused(later.substr(0, 9)), "is of format 3.0");
}

TEST_F(Npy, RefusesNumbersThatTheInputHasNot) {
  const NpyFile floats(put(npy<double>("<f8", "(4,)", {0.5, 1e300, NAN, 70000})));
  std::byte to[8];
  const auto read = [&](std::int64_t row, DType dtype) { floats.read(row, {}, dtype, to); };
  EXPECT_PRED2(says, error_from([&] { read(0, DType::i32); }),
               "x.npy: row 0 has 0.5 at element 0 of the row, which i32 has no number for");
  EXPECT_PRED2(says, error_from([&] { read(1, DType::f32); }), "row 1 has 1e+300");
  EXPECT_PRED2(says, error_from([&] { read(2, DType::f64); }), "row 2 has nan");
  EXPECT_PRED2(says, error_from([&] { read(3, DType::f16); }), "row 3 has 70000");
  read(3, DType::bf16);
  read(3, DType::i32);
  std::int32_t whole = 0;
  std::memcpy(&whole, to, 4);
  EXPECT_EQ(whole, 70000);
}

/// An image of two channels, a symbol, and a target of two numbers.
Network three_inputs() {
  Builder net({.batch = 3});
  const VarId image = net.input("image", {2, 3, 2}), symbol = net.input("symbol", {}, DType::i32);
  const VarId known = net.layer("embedding", symbol, {{"vocab", 3}, {"out", 2}});
  net.loss("mse", net.layer("add", {net.layer("fc", image, {{"out", 2}}), known}), net.input("wish", {2}));
  Network network = net.finish();
  network.name = "the network";
  return network;
}

class ArraysOfThree : public ::testing::Test {
 protected:
  ArraysOfThree() {
    std::vector<float> images, wishes;
    std::vector<std::int64_t> symbols;
    for (int row = 0; row < 20; ++row) {
      for (int i = 0; i < 12; ++i) images.push_back(static_cast<float>(100 * row + i));
      for (int i = 0; i < 2; ++i) wishes.push_back(static_cast<float>(-row - i));
      symbols.push_back(row % 3);
    }
    folder_.write("i.npy", npy("<f4", "(20, 2, 2, 3)", images));
    folder_.write("s.npy", npy("<i8", "(20, 1)", symbols));
    folder_.write("w.npy", npy("<f4", "(20, 2)", wishes));
    folder_.write("w2.npy", npy<float>("<f4", "(3, 2)", {1, 2, 3, 4, 5, 6}));
  }
  std::unique_ptr<Samples> open(const std::string& spec) const {
    std::string text = "npy:";
    for (const char c : spec) text += c == '@' ? folder_.text() + '/' : std::string(1, c);
    return open_data(text, 0, three_inputs());
  }
  TemporaryFolder folder_;
};

const std::string kAll = "symbol=@s.npy,wish=@w.npy,image=@i.npy";

TEST_F(ArraysOfThree, FeedEachInputByItsName) {
  const auto data = open(kAll + ",val=0.3");
  check_fed(three_inputs(), *data);
  std::int64_t held = 0;
  for (std::int64_t row = 0; row < 20; ++row) held += is_held_out(row, 0.3);
  EXPECT_EQ(data->size(Split::Test), held);
  EXPECT_EQ(data->size(Split::Train), 20 - held);
  EXPECT_EQ(open(kAll)->size(Split::Test), 2) << "a tenth, as the hash of the rows has it";
  struct Row {
    float image[12];
    std::int32_t symbol;
    float wish[2];
  } row;
  ASSERT_EQ(data->sample_bytes(DType::f32), std::int64_t{sizeof row});
  data->reader({})->read(Split::Train, 1, 0, reinterpret_cast<std::byte*>(&row), nullptr);
  ASSERT_FALSE(is_held_out(std::int64_t{0}, 0.3) || is_held_out(std::int64_t{1}, 0.3));
  EXPECT_EQ(std::vector<float>(row.image, row.image + 4), (std::vector<float>{100, 106, 101, 107}))
      << "a file has channels first, memory has them last";
  EXPECT_EQ(row.symbol, 1);
  EXPECT_EQ(row.wish[1], -2);
}

TEST_F(ArraysOfThree, SayWhatIsMissingAndWhatDoesNotFit) {
  const auto wrong = [&](const std::string& spec, Exit code = Exit::Usage) {
    return error_from([&] { open(spec); }, code);
  };
  EXPECT_PRED2(says, wrong("symbol=@s.npy,wish=@w.npy"), "has no array for the input: image=FILE.npy");
  EXPECT_PRED2(says, wrong("symbl=@s.npy"), "'symbl' is no input of the network; did you mean 'symbol'?");
  EXPECT_PRED2(says, wrong(kAll + ",wish=@w.npy"), "wish stands twice");
  EXPECT_PRED2(says, wrong("@s.npy"), "expected NAME=FILE, got");
  EXPECT_PRED2(says, wrong(kAll + ",test.wish=@w2.npy"), "has no array for the input: test.image=FILE.npy");
  EXPECT_PRED2(says, wrong("symbol=@s.npy,wish=@w2.npy,image=@i.npy", Exit::Data), "w2.npy: has 3 rows");
  EXPECT_PRED2(says, wrong("symbol=@s.npy,wish=@i.npy,image=@i.npy", Exit::Data),
               "i.npy: has rows of [2,2,3], the input 'wish' takes [2]");
}

TEST(Arrays, LabelsAreClasses) {
  const auto classifier = [](const std::optional<std::int64_t>& ignore) {
    Builder net({.batch = 2});
    const VarId x = net.input("x", {1});
    net.loss("cross_entropy", net.layer("fc", x, {{"out", 3}}), net.input("y", {}, DType::i32), {.ignore = ignore});
    return net.finish();
  };
  TemporaryFolder folder;
  folder.write("x.npy", npy<float>("<f4", "(3,)", {1, 2, 3}));
  folder.write("y.npy", npy<std::int64_t>("<i8", "(3,)", {2, -100, 3}));
  const std::string set = "x=" + folder.text() + "/x.npy,y=" + folder.text() + "/y.npy";
  const std::string spec = "npy:" + set + ",test.x=" + folder.text() + "/x.npy,test.y=" + folder.text() + "/y.npy";
  const Network strict = classifier({}), lenient = classifier(-100);
  const auto all = open_data(spec, 0, strict), ignoring = open_data(spec, 0, lenient);
  check_fed(strict, *all);
  EXPECT_EQ(all->size(Split::Test), 3);
  float x = 0;
  std::int32_t label = 0;
  const auto read = [&](const Samples& data, std::int64_t row) {
    data.reader({})->read(Split::Test, row, 0, reinterpret_cast<std::byte*>(&x), &label);
  };
  read(*all, 0);
  EXPECT_EQ(label, 2);
  EXPECT_PRED2(says, error_from([&] { read(*all, 1); }), "y.npy: row 1 has label -100, the network tells 3 classes");
  read(*ignoring, 1);
  EXPECT_EQ(label, -100);
  EXPECT_PRED2(says, error_from([&] { read(*ignoring, 2); }), "y.npy: row 2 has label 3");
}

TEST(Arrays, TargetsOfBceAreChances) {
  Builder net({.batch = 2});
  const VarId x = net.input("x", {1});
  net.loss("bce", net.layer("fc", x, {{"out", 2}}), net.input("y", {2}));
  const Network network = net.finish();
  TemporaryFolder folder;
  folder.write("x.npy", npy<float>("<f4", "(2,)", {5, -5}));
  folder.write("y.npy", npy<float>("<f4", "(2, 2)", {0, 1, 0.5, 1.5}));
  const std::string at = folder.text() + '/';
  const auto data =
      open_data("npy:x=" + at + "x.npy,y=" + at + "y.npy,test.x=" + at + "x.npy,test.y=" + at + "y.npy", 0, network);
  float sample[3];
  const auto read = [&](std::int64_t row) {
    data->reader({})->read(Split::Test, row, 0, reinterpret_cast<std::byte*>(sample), nullptr);
  };
  read(0);
  EXPECT_EQ(sample[2], 1);
  EXPECT_PRED2(says, error_from([&] { read(1); }), "y.npy: row 1 has 1.5, bce takes 0 to 1");
}

}  // namespace
}  // namespace lethe::testing
