#include "models/json_source.h"

#include <gtest/gtest.h>

namespace lethe::testing {
namespace {

/// The complaint about the value that `way` leads to.
template <class... Keys>
std::string place_of(const std::string& text, const Keys&... way) {
  const JsonSource source("net.json", text);
  JsonNode node = source.root();
  ((node = node.at(way)), ...);
  try {
    node.fail("here");
  } catch (const SourceError& error) {
    return error.what();
  }
}

std::string complaint_about(const std::string& text) {
  try {
    JsonSource source("net.json", text);
    return "no error";
  } catch (const SourceError& error) {
    return error.what();
  }
}

TEST(JsonSource, KnowsLineAndColumnOfEveryValue) {
  const std::string text = "{\n  \"a\": 1,\n  \"b\": {\"c\": [true, {\"d\": \"x\"}]}\n}\n";
  EXPECT_EQ(place_of(text), "net.json:1:1: here");
  EXPECT_EQ(place_of(text, "a"), "net.json:2:8: here");
  EXPECT_EQ(place_of(text, "b", "c"), "net.json:3:14: here");
  const JsonSource source("net.json", text);
  const JsonNode item = source.root().at("b").at("c").items()[1];
  try {
    item.at("d").fail_at_key("key");
  } catch (const SourceError& error) {
    EXPECT_STREQ(error.what(), "net.json:3:22: key");
  }
}

TEST(JsonSource, SkipsCommentsAndReadsEscapes) {
  const std::string text = "// one\n{ /* two } */ \"a\\\"\\u0062\": // three\n \"}\\\\\", \"c\": 2}";
  EXPECT_EQ(place_of(text, "a\"b"), "net.json:3:2: here");
  EXPECT_EQ(place_of(text, "c"), "net.json:3:14: here");
}

TEST(JsonSource, EndsALineCommentWhereTheParserDoes) {
  for (const char end : {'\n', '\r', '\0'}) {
    const std::string text = std::string("{\"a\": 1 // one\"") + end + ", \"b\": 2}";
    EXPECT_NE(place_of(text, "b").find(": here"), std::string::npos) << static_cast<int>(end);
  }
}

TEST(JsonSource, CountsCharactersNotBytes) {
  EXPECT_EQ(place_of("{\"größe\": 1}", "größe"), "net.json:1:11: here");
  EXPECT_EQ(place_of("\xEF\xBB\xBF{\"a\": 1}", "a"), "net.json:1:7: here");
}

TEST(JsonSource, PlacesSyntaxErrors) {
  EXPECT_EQ(complaint_about("{\"a\": 1,\n  \"b\" 2}").substr(0, 40), "net.json:2:7: syntax error while parsing");
  EXPECT_EQ(complaint_about("{\"a\": [1, 2").substr(0, 14), "net.json:1:12:");
  EXPECT_EQ(complaint_about("").substr(0, 13), "net.json:1:1:");
  EXPECT_EQ(complaint_about("{}{}").substr(0, 13), "net.json:1:3:");
}

TEST(JsonSource, RefusesAKeyThatStandsTwice) {
  EXPECT_EQ(complaint_about("{\"a\": 1,\n \"a\": 2}"), "net.json:2:2: key 'a' stands twice");
  EXPECT_EQ(complaint_about("{\"a\": [1, {\"b\": 2}], \"a\": 5}"), "net.json:1:22: key 'a' stands twice");
  EXPECT_EQ(complaint_about("{\"a\": 5, \"a\": {\"b\": [2]}}"), "net.json:1:10: key 'a' stands twice");
}

TEST(JsonSource, RefusesEndlessNesting) {
  EXPECT_EQ(complaint_about(std::string(200000, '[') + std::string(200000, ']')),
            "net.json:1:102: nested deeper than 100");
}

TEST(JsonSource, SaysWhichFileCannotBeRead) {
  try {
    JsonSource source("no/such/net.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "cannot open 'no/such/net.json': No such file or directory");
  }
  EXPECT_THROW(JsonSource("/"), Error);
}

}  // namespace
}  // namespace lethe::testing
