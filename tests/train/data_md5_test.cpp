#include <gtest/gtest.h>

#include <string>

#include "train/data/checksum.h"

namespace lethe::testing {
namespace {

std::string md5_of_text(const std::string& text) { return md5_of(text.data(), text.size()); }

// The test suite of RFC 1321, appendix A.5.
TEST(Md5, GivesTheDigestsOfTheStandard) {
  EXPECT_EQ(md5_of_text(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(md5_of_text("a"), "0cc175b9c0f1b6a831c399e269772661");
  EXPECT_EQ(md5_of_text("abc"), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(md5_of_text("message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
  EXPECT_EQ(md5_of_text("abcdefghijklmnopqrstuvwxyz"), "c3fcd3d76192e4007dfb496cca67e13b");
  EXPECT_EQ(md5_of_text("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"),
            "d174ab98d277d9f5a5611c2c9f419d9f");
  EXPECT_EQ(md5_of_text("12345678901234567890123456789012345678901234567890123456789012345678901234567890"),
            "57edf4a22be3c955ac49da2e2107b67a");
}

// Around the 55 bytes that still leave room for the length in the last block; digests by coreutils' md5sum.
TEST(Md5, HandlesEveryFillingOfTheLastBlock) {
  EXPECT_EQ(md5_of_text(std::string(55, 'x')), "04364420e25c512fd958a70738aa8f72");
  EXPECT_EQ(md5_of_text(std::string(56, 'x')), "668a72d5ba17f08e62dabcafad6db14b");
  EXPECT_EQ(md5_of_text(std::string(64, 'x')), "c1bb4f81d892b2d57947682aeb252456");
}

}  // namespace
}  // namespace lethe::testing
