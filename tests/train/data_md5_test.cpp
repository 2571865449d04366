#include <gtest/gtest.h>

#include <string>

#include "tests/train/data_samples.h"
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

// FIPS 180-4's examples, and lengths around those that leave no room for the length in the last block; the latter by
// coreutils' sha256sum.
TEST(Sha256, GivesTheDigestsOfTheStandard) {
  EXPECT_EQ(sha256_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_of(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(sha256_of(std::string(55, 'x')), "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072");
  EXPECT_EQ(sha256_of(std::string(56, 'x')), "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e");
  EXPECT_EQ(sha256_of(std::string(64, 'x')), "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c");
}

TEST(Sha256, ReadsFilesInPieces) {
  const TemporaryFolder folder;
  const std::string text((1 << 20) + 70, 'y');
  folder.write("f", text);
  EXPECT_EQ(sha256_of_file(folder.text() + "/f"), sha256_of(text));
}

}  // namespace
}  // namespace lethe::testing
