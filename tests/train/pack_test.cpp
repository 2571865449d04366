// `train pack`: reads what other planners write, writes what they read, and says in one line what is wrong.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/train/run_fixture.h"

namespace lethe::testing {
namespace {

class PackCommand : public RunTest {
 protected:
  Ended pack(const std::string& table, std::vector<std::string> more = {}) const {
    std::ofstream(path("in.csv"), std::ios::binary) << table;
    more.insert(more.begin(), {"pack", path("in.csv")});
    return run_train(more);
  }
  void expect_refused(const std::string& table, const std::string& part) const {
    const Ended ended = pack(table);
    EXPECT_EQ(ended.code, 4) << ended.err;
    EXPECT_NE(ended.err.find(part), std::string::npos) << ended.err;
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
    EXPECT_EQ(ended.out, "");
  }
};

constexpr const char* kPackTable = "id,lower,upper,size\na,0,4,8\nb,4,6,8\nc,2,5,3\n";
constexpr const char* kPackedRows = "id,lower,upper,size,offset\na,0,4,8,0\nb,4,6,8,0\nc,2,5,3,8\n";

TEST_F(PackCommand, WritesOffsetsBesideWhatItRead) {
  const Ended ended = pack(kPackTable);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.out, kPackedRows);
  EXPECT_NE(ended.err.find("packed 3 height 11 lower_bound 11 at 2 certified minimal"), std::string::npos) << ended.err;
}

TEST_F(PackCommand, WritesIntoAFile) {
  EXPECT_EQ(pack(kPackTable, {"--out", path("out.csv")}).out, "");
  EXPECT_EQ(bytes_in(path("out.csv")), kPackedRows);
}

TEST_F(PackCommand, ReadsItsOwnOutputAndColumnsInAnyOrder) {
  EXPECT_EQ(pack(kPackedRows).out, kPackedRows);
  EXPECT_EQ(pack("size,id,upper,lower\r\n8,a,4,0\r\n8,b,6,4\r\n3,c,5,2\r\n").out, kPackedRows);
}

TEST_F(PackCommand, PassesOverAByteOrderMark) {
  EXPECT_EQ(pack(std::string("\xef\xbb\xbf") + kPackTable).out, kPackedRows);
}

TEST_F(PackCommand, ExitsWithThreeIfItDoesNotFit) {
  EXPECT_EQ(pack(kPackTable, {"--capacity", "11"}).code, 0);
  const Ended ended = pack(kPackTable, {"--capacity", "10", "--out", path("out.csv")});
  EXPECT_EQ(ended.code, 3);
  EXPECT_NE(ended.err.find("cannot fit 10 bytes: no packing takes less than 11"), std::string::npos) << ended.err;
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << ended.err;
  EXPECT_FALSE(std::filesystem::exists(path("out.csv")));
}

TEST_F(PackCommand, NothingTakesNothing) { EXPECT_EQ(pack("id,lower,upper,size\n").code, 0); }

TEST_F(PackCommand, RefusesWhatIsNoTable) {
  expect_refused("", "in.csv: is empty");
  expect_refused("id,lower,upper\na,0,1\n", "in.csv:1: column 'size' is missing or stands there twice");
  expect_refused("id,lower,upper,size,size\n", "in.csv:1: column 'size' is missing or stands there twice");
  expect_refused("id,lower,upper,size,hint\n", "in.csv:1: unknown column 'hint'");
  expect_refused("a,0,4,8\n", "in.csv:1: unknown column 'a'");
}

TEST_F(PackCommand, RefusesBadRowsAndNamesTheLine) {
  const std::string header = "id,lower,upper,size\na,0,4,8\n";
  expect_refused(header + "b,0,4\n", "in.csv:3: 3 values, expected 4");
  expect_refused(header + "\nb,0,four,8\n", "in.csv:4: upper is 'four', expected a whole number");
  expect_refused(header + "b,0,4,\n", "in.csv:3: size is '', expected a whole number");
  expect_refused(header + "a,4,5,8\n", "in.csv:3: id 'a' stands on line 2 already");
  expect_refused(header + "b,0,4,-8\n", "in.csv:3: size is -8");
  expect_refused(header + "b,4,4,8\n", "in.csv:3: lower 4 is not below upper 4");
  expect_refused(header + "b,5,4,8\n", "in.csv:3: lower 5 is not below upper 4");
  expect_refused(header + "b,0,4,9223372036854775808\n", "in.csv:3: size 9223372036854775808 does not fit in 64 bits");
  expect_refused(header + "b,0,4,1152921504606846976\n", "in.csv:3: sizes add up to more than 1152921504606846976");
}

TEST_F(PackCommand, RefusesFilesThatAreNotThere) {
  const Ended ended = run_train({"pack", path("none.csv")});
  EXPECT_EQ(ended.code, 4);
  EXPECT_NE(ended.err.find("none.csv: cannot be read"), std::string::npos) << ended.err;
  EXPECT_EQ(run_train({"pack"}).code, 2);
  EXPECT_EQ(pack(kPackTable, {"--time", "-1"}).code, 2);
}

}  // namespace
}  // namespace lethe::testing
