// A directory of tokens that two processes make at once.
#include "train/session/token_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>

#include "tests/train/data_samples.h"

namespace lethe::testing {
namespace {

namespace fs = std::filesystem;

std::ptrdiff_t open_descriptors() {
  return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
}

TEST(TokenWriterTest, SeesADirectoryThatAnotherCommitsBeforeItHasTheLock) {
  const TemporaryFolder folder;
  const std::string directory = folder.text() + "/data";
  // The writer waits in its probe of the folder, which it makes before it takes the lock, until somebody reads.
  const std::string probe = message(folder.text(), "/.probe-", ::getpid());
  ASSERT_EQ(::mkfifo(probe.c_str(), 0600), 0);
  const std::ptrdiff_t before = open_descriptors();
  std::string refusal;
  std::thread other([&] { refusal = error_from([&] { TokenWriter(directory, ShardHeader{}, 10); }, Exit::Usage); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  folder.write("data/train-0000.bin", "x");
  const int reader = ::open(probe.c_str(), O_RDONLY | O_NONBLOCK);
  other.join();
  ::close(reader);
  EXPECT_PRED2(says, refusal, "/data: is there already, with something in it");
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1) << "the other's alone";
}

}  // namespace
}  // namespace lethe::testing
