#include "framework/language/views.h"

#include <gtest/gtest.h>

#include "framework/language/text.h"
#include "framework/language/verify.h"
#include "tests/support/expect_error.h"

namespace lethe::testing {
namespace {

std::vector<View> views_in(const std::string& text) {
  const Program program = parse_program(text);
  verify(program);
  EXPECT_EQ(parse_program(to_text(program)), program);
  return views_of(program);
}

TEST(Views, OfASliceLieWithinWhatIsCut) {
  const std::vector<View> views = views_in(
      "input x f32[4,6]\ntemp rows f32[2,6]\ntemp part f32[4,2] pitch 6\ntemp flat f32[12]\n"
      "block 0 {\n  rows = slice_view(x) {axis=0, begin=1, end=3}\n  part = slice_view(x) {axis=1, begin=3, end=5}\n"
      "  flat = reshape(rows) {shape=[12]}\n}\n");
  EXPECT_EQ(views, (std::vector<View>{{0, 0}, {0, 24}, {0, 12}, {0, 24}}));
}

TEST(Views, OfASliceOfASlice) {
  const std::vector<View> views = views_in(
      "input x f32[2,3,8]\ntemp a f32[2,3,4] pitch 8\ntemp b f32[2,3,1] pitch 8\ntemp c f32[1,3,4] pitch 8\n"
      "block 0 {\n  a = slice_view(x) {axis=2, begin=2, end=6}\n  b = slice_view(a) {axis=2, begin=3, end=4}\n"
      "  c = slice_view(a) {axis=0, begin=1, end=2}\n}\n");
  EXPECT_EQ(views, (std::vector<View>{{0, 0}, {0, 8}, {0, 20}, {0, 104}}));
}

TEST(Views, PartsLieWhereTheyAreWritten) {
  const std::vector<View> views = views_in(
      "input x f32[2,3]\ntemp a f32[2,3] pitch 6\ntemp b f32[2,3] pitch 6\ntemp y f32[2,6]\n"
      "block 0 {\n  a = relu(x)\n  b = tanh(x)\n  y = concat_view(a, b) {axis=1}\n}\n");
  EXPECT_EQ(views, (std::vector<View>{{0, 0}, {3, 0}, {3, 12}, {3, 0}}));
}

TEST(Views, PartsOfPartsHaveThePitchOfTheWhole) {
  const std::vector<View> views = views_in(
      "input x f32[2,3]\ntemp a f32[2,3] pitch 12\ntemp b f32[2,3] pitch 12\ntemp ab f32[2,6] pitch 12\n"
      "temp c f32[2,6] pitch 12\ntemp y f32[2,12]\n"
      "block 0 {\n  a = relu(x)\n  b = tanh(x)\n  ab = concat_view(a, b) {axis=1}\n  c = relu(ab)\n"
      "  y = concat_view(c, ab) {axis=1}\n}\n");
  EXPECT_EQ(views, (std::vector<View>{{0, 0}, {5, 24}, {5, 36}, {5, 24}, {5, 0}, {5, 0}}));
}

TEST(Views, RowsThatAreNotEquallyFarApartAreNone) {
  const Var images{.name = "x", .shape = {2, 4, 4, 8}};
  EXPECT_EQ(pitch_of_part(images, {2, 4, 4, 3}, 3), 8);
  EXPECT_EQ(pitch_of_part(images, {1, 4, 4, 8}, 0), 0);
  EXPECT_EQ(pitch_of_part(images, {2, 2, 4, 8}, 1), std::nullopt) << "a gap after two rows of pixels";
  EXPECT_EQ(pitch_of_part(images, {2, 4, 4, 8}, 3), 0) << "all of it";
  const Var one{.name = "x", .shape = {1, 4, 4, 8}};
  EXPECT_EQ(pitch_of_part(one, {1, 2, 4, 8}, 1), 0) << "of one image it is one piece";
}

TEST(Views, WrongOnesAreRefused) {
  const auto error = [](const std::string& vars, const std::string& ops) {
    return error_of([&] { verify(parse_program("input x f32[2,6]\n" + vars + "block 0 {\n" + ops + "}\n")); });
  };
  EXPECT_EQ(error("temp a f32[2,3]\n", "  a = slice_view(x) {axis=1, begin=0, end=3}\n"),
            "block 0, op 0 'slice_view': 'a' has pitch 0, as a part of 'x' it has 6");
  EXPECT_EQ(error("temp a f32[2,6] pitch 8\n", "  a = relu(x)\n"), "'a' has pitch 8, but lies in no other var");
  EXPECT_EQ(error("temp a f32[2,6] pitch 12\ntemp y f32[2,12]\n", "  a = relu(x)\n  y = concat_view(a, a) {axis=1}\n"),
            "block 0, op 1 'concat_view': 'a' lies in another var already");
  EXPECT_EQ(error("temp y f32[4,6]\ntemp a f32[2,6]\n", "  a = relu(x)\n  y = concat_view(x, a) {axis=0}\n"),
            "the input 'x' lies in 'y'");
  EXPECT_EQ(error("temp a f32[2,3] pitch 6\ntemp b f32[2,3]\n",
                  "  a = slice_view(x) {axis=1, begin=0, end=3}\n  b = softmax(a)\n"),
            "block 0, op 1 'softmax': takes no rows that lie apart, as those of 'a'");
}

}  // namespace
}  // namespace lethe::testing
