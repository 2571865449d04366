// Two CPU devices of unlike numbers of threads, used by two threads of the program at once.
#include <gtest/gtest.h>

#include <thread>

#include "kernels/cpu/device.h"
#include "kernels/cpu/parallel.h"
#include "tests/support/network_run.h"

namespace lethe::testing {
namespace {

constexpr int kTogether = 20;

/// Sees that each op is run by so many threads.
class ThreadsSeen final : public Observer {
 public:
  explicit ThreadsSeen(int expected) : expected_(expected) {}
  void before(const Op&, const KernelArgs&) override { others_ += worker_threads() != expected_; }
  int others() const { return others_; }

 private:
  int expected_, others_ = 0;
};

TEST(TwoDevices, TrainBesideEachOtherAsEachAlone) {
  std::vector<std::map<std::string, std::vector<std::byte>>> alone, beside(2);
  for (const int threads : {1, 2}) alone.push_back(trained_alone(*open_cpu(threads), 1, kTogether));
  const std::unique_ptr<Device> devices[] = {open_cpu(1), open_cpu(2)};
  const auto train = [&](int which) {
    NetworkRun run(*devices[which], 1);
    ThreadsSeen seen(which + 1);
    run.observe(&seen);
    for (int step = 0; step < kTogether; ++step) run.step();
    beside[static_cast<std::size_t>(which)] = run.trained();
    EXPECT_EQ(seen.others(), 0) << devices[which]->info().threads << " threads";
  };
  std::thread first(train, 0), second(train, 1);
  first.join();
  second.join();
  EXPECT_EQ(beside == alone, true);
}

}  // namespace
}  // namespace lethe::testing
