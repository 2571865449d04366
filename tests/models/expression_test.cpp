#include "models/expression.h"

#include <gtest/gtest.h>

#include "framework/error.h"

namespace lethe::testing {
namespace {

const Bindings kValues = {{"n", Attr(3)}, {"w", Attr(16)}, {"rate", Attr(0.5)}, {"init", Attr("he")}};

std::string value_of(const std::string& text) { return text_of(evaluate(text, kValues)); }

std::string error_of(const std::string& text) {
  try {
    return "no error but " + value_of(text);
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Expression, MultipliesBeforeItAdds) {
  EXPECT_EQ(value_of("2+3*4"), "14");
  EXPECT_EQ(value_of("(2+3)*4"), "20");
  EXPECT_EQ(value_of("2*w+n"), "35");
}

TEST(Expression, WorksFromLeftToRightAmongEquals) {
  EXPECT_EQ(value_of("10-4-3"), "3");
  EXPECT_EQ(value_of("24/4/2"), "3");
  EXPECT_EQ(value_of("7%4*2"), "6");
}

TEST(Expression, ComparesLastAndGivesOneOrZero) {
  EXPECT_EQ(value_of("n+1>n"), "1");
  EXPECT_EQ(value_of("n==3"), "1");
  EXPECT_EQ(value_of("n!=3"), "0");
  EXPECT_EQ(value_of("n<=2"), "0");
  EXPECT_EQ(value_of("n>=3"), "1");
  EXPECT_EQ(value_of("rate<1"), "1");
  EXPECT_EQ(value_of("(n>2)*5"), "5");
}

TEST(Expression, NegatesAsTightlyAsAFactor) {
  EXPECT_EQ(value_of("-n*2"), "-6");
  EXPECT_EQ(value_of("2--n"), "5");
  EXPECT_EQ(value_of("-(n+1)"), "-4");
}

TEST(Expression, KeepsWholeNumbersWholeAndMixesToFractions) {
  EXPECT_EQ(value_of("w/4"), "4");
  EXPECT_EQ(value_of("n/2.0"), "1.5");
  EXPECT_EQ(value_of("rate*4"), "2.0");
  EXPECT_EQ(value_of("1e-2"), "0.01");
}

TEST(Expression, TakesSquareRootsAsFractions) {
  EXPECT_EQ(value_of("sqrt(w)"), "4.0");
  EXPECT_EQ(value_of("1/sqrt(2*(n-1))"), "0.5");
  EXPECT_EQ(error_of("sqrt(0-w)"), "in '=sqrt(0-w)': sqrt of -16");
  EXPECT_EQ(error_of("sqrt(w"), "in '=sqrt(w': ')' is missing");
}

TEST(Expression, TakesTheSignOfTheDivisorForTheRest) {
  EXPECT_EQ(value_of("-7%3"), "2");
  EXPECT_EQ(value_of("7%-3"), "-2");
  EXPECT_EQ(value_of("9223372036854775806%9223372036854775807"), "9223372036854775806");
}

TEST(Expression, HandsTextOnButDoesNotComputeWithIt) {
  EXPECT_EQ(value_of("init"), "\"he\"");
  EXPECT_EQ(error_of("init+1"), "in '=init+1': \"he\" is not a number");
}

TEST(Expression, RefusesDivisionThatDoesNotComeOutEven) {
  EXPECT_EQ(error_of("w/n"), "in '=w/n': 16 / 3 is not whole; write 16.0 / 3 for a fraction");
  EXPECT_EQ(error_of("w/0"), "in '=w/0': 16 / 0");
  EXPECT_EQ(error_of("w%0"), "in '=w%0': 16 % 0");
  EXPECT_EQ(error_of("1.0/0"), "in '=1.0/0': 1 / 0");
  EXPECT_EQ(error_of("rate%2"), "in '=rate%2': % is for whole numbers, found 0.5 % 2");
}

TEST(Expression, RefusesWhatDoesNotFitInto64Bits) {
  EXPECT_EQ(error_of("9223372036854775807+1"), "in '=9223372036854775807+1': 9223372036854775807 + 1 is too large");
  EXPECT_EQ(error_of("4294967296*4294967296"), "in '=4294967296*4294967296': 4294967296 * 4294967296 is too large");
  EXPECT_EQ(error_of("(0-9223372036854775807-1)/-1"),
            "in '=(0-9223372036854775807-1)/-1': 0 - -9223372036854775808 is too large");
}

TEST(Expression, SuggestsTheNameThatWasMeant) {
  EXPECT_EQ(error_of("2*rat"), "in '=2*rat': unknown name 'rat'; did you mean 'rate'?; known: init, n, rate, w");
}

TEST(Expression, SaysWhatIsWrongWithTheGrammar) {
  EXPECT_EQ(error_of(""), "in '=': a value is missing at the end");
  EXPECT_EQ(error_of("2*"), "in '=2*': a value is missing at the end");
  EXPECT_EQ(error_of("(n"), "in '=(n': ')' is missing");
  EXPECT_EQ(error_of("n n"), "in '=n n': unexpected 'n'");
  EXPECT_EQ(error_of("n & 1"), "in '=n & 1': unexpected '& 1'");
  EXPECT_EQ(error_of("1.2.3"), "in '=1.2.3': '1.2.3' is no number");
  EXPECT_EQ(error_of("1<2<3"), "in '=1<2<3': unexpected '<3'");
  EXPECT_NE(error_of(std::string(100000, '(')).find("nested deeper than 100"), std::string::npos);
}

TEST(Expression, ReadsCommandLineValues) {
  EXPECT_EQ(parse_value("3"), Attr(3));
  EXPECT_EQ(parse_value("-2"), Attr(-2));
  EXPECT_EQ(parse_value("0.5"), Attr(0.5));
  EXPECT_EQ(parse_value("true"), Attr(1));
  EXPECT_EQ(parse_value("false"), Attr(0));
  EXPECT_EQ(parse_value("3x"), Attr("3x"));
}

}  // namespace
}  // namespace lethe::testing
