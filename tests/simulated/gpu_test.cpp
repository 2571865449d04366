// The simulated GPU itself: it does right work rightly, at any pace, and finds what is wrong in wrong programs.
#include "tests/simulated/gpu.h"

#include <gtest/gtest.h>

#include <cstring>

namespace lethe::simulated {
namespace {

constexpr Pace kPaces[] = {Pace::Early, Pace::Late, Pace::Random};

int read(Gpu& gpu, Stream& stream, const void* from) {
  int value = 0;
  gpu.copy(stream, &value, from, sizeof value, Gpu::Direction::Out);
  return value;
}

TEST(SimulatedGpu, WorkOfAStreamIsDoneInItsOrderAtAnyPace) {
  for (const Pace pace : kPaces) {
    Gpu gpu({.pace = pace, .seed = 3});
    Stream& stream = *gpu.make_stream();
    auto* const x = static_cast<int*>(gpu.allocate(sizeof(int)));
    const int one = 1;
    gpu.copy(stream, x, &one, sizeof one, Gpu::Direction::In);
    for (int i = 0; i < 5; ++i) gpu.submit(stream, [x, i] { *x = *x * 10 + i; });
    EXPECT_EQ(read(gpu, stream, x), 101234);
  }
}

TEST(SimulatedGpuDeathTest, TheHostCannotTouchItsMemory) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Gpu gpu({});
  auto* const x = static_cast<volatile int*>(gpu.allocate(sizeof(int)));
  EXPECT_DEATH(*x = 1, "");
}

TEST(SimulatedGpuDeathTest, WorkCannotTouchWhatLiesAfterAPiece) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Gpu gpu({.pace = Pace::Early});
  Stream& stream = *gpu.make_stream();
  auto* const x = static_cast<volatile char*>(gpu.allocate(512));
  EXPECT_DEATH(gpu.submit(stream, [x] { x[512] = 1; }), "");
}

/// A pinned source that changes before the copy was waited for: late, what is copied is the change.
TEST(SimulatedGpu, ALateCopyReadsPinnedMemoryWhenItIsDone) {
  for (const auto& [pace, expected] : {std::pair{Pace::Early, 1}, std::pair{Pace::Late, 2}}) {
    Gpu gpu({.pace = pace});
    Stream& stream = *gpu.make_stream();
    auto* const x = static_cast<int*>(gpu.allocate(sizeof(int)));
    auto* const host = static_cast<int*>(gpu.allocate_host(sizeof(int)));
    *host = 1;
    gpu.copy(stream, x, host, sizeof(int), Gpu::Direction::In);
    *host = 2;
    EXPECT_EQ(read(gpu, stream, x), expected);
  }
}

TEST(SimulatedGpu, AStreamWaitsForTheMarkOfAnotherAndElseForNothing) {
  for (const bool waits : {true, false}) {
    Gpu gpu({.pace = Pace::Late});
    Stream &first = *gpu.make_stream(), &second = *gpu.make_stream();
    auto* const x = static_cast<int*>(gpu.allocate(2 * sizeof(int)));
    gpu.submit(first, [x] { x[0] = 7; });
    const Event mark = gpu.record(first);
    if (waits) gpu.wait(second, mark);
    gpu.submit(second, [x] { x[1] = x[0]; });
    EXPECT_EQ(read(gpu, second, x + 1) == 7, waits);
  }
}

TEST(SimulatedGpu, MemoryOfAPoolIsUsedAgainInTheOrderOfTheStream) {
  Gpu gpu({.pace = Pace::Late});
  Stream& stream = *gpu.make_stream();
  auto* const x = static_cast<int*>(gpu.allocate(stream, 64));
  gpu.submit(stream, [x] { *x = 1; });
  gpu.release(stream, x);
  EXPECT_EQ(gpu.allocate(stream, 64), x);
  EXPECT_EQ(read(gpu, stream, x), -1) << "what was given back is spoilt";
  EXPECT_EQ(gpu.take_allocations(), std::vector<std::int64_t>{64});
}

TEST(SimulatedGpu, WhatIsRecordedIsDoneWhenItIsLaunched) {
  Gpu gpu({.pace = Pace::Early});
  Stream& stream = *gpu.make_stream();
  auto* const x = static_cast<int*>(gpu.allocate(sizeof(int)));
  gpu.submit(stream, [x] { *x = 0; });
  gpu.begin_capture(stream);
  gpu.submit(stream, [x] { *x += 1; });
  const Graph graph = gpu.end_capture(stream);
  EXPECT_EQ(read(gpu, stream, x), 0);
  for (int i = 0; i < 3; ++i) gpu.launch(stream, graph);
  EXPECT_EQ(read(gpu, stream, x), 3);
}

TEST(SimulatedGpu, RecordsAStreamThatWaitsForARecordedMarkIfTheFirstWaitsForItAtTheEnd) {
  for (const bool joins : {true, false}) {
    Gpu gpu({.pace = Pace::Late});
    Stream &first = *gpu.make_stream(), &second = *gpu.make_stream();
    auto* const x = static_cast<int*>(gpu.allocate(sizeof(int)));
    gpu.begin_capture(first);
    gpu.submit(first, [x] { *x = 1; });
    gpu.wait(second, gpu.record(first));
    gpu.submit(second, [x] { *x += 1; });
    const Event mark = gpu.record(second);
    if (!joins) {
      EXPECT_THROW(gpu.end_capture(first), Refusal);
      continue;
    }
    gpu.wait(first, mark);
    gpu.submit(first, [x] { *x *= 10; });
    const Graph graph = gpu.end_capture(first);
    EXPECT_THROW(gpu.wait(second, mark), Refusal) << "it is in the recording alone";
    for (int i = 0; i < 2; ++i) gpu.launch(first, graph);
    EXPECT_EQ(read(gpu, first, x), 20);
  }
}

TEST(SimulatedGpu, WorkIsDoneOnceItIsReady) {
  for (const Pace pace : {Pace::Early, Pace::Late}) {
    Gpu gpu({.pace = pace});
    Stream& stream = *gpu.make_stream();
    int asked = 0, done = 0;
    gpu.submit(
        stream, [&done] { ++done; }, [&asked] { return ++asked > 5; });
    while (!gpu.query(stream)) EXPECT_EQ(done, 0);
    EXPECT_EQ(done, 1);
    EXPECT_EQ(asked > 5, true);
  }
}

/// A GPU would record memory of pools too, which no program here wants.
TEST(SimulatedGpu, WhileItRecordsItNeitherWaitsNorGivesMemory) {
  Gpu gpu({});
  Stream& stream = *gpu.make_stream();
  for (const auto& wrong : {Work([&] { gpu.finish(stream); }), Work([&] { gpu.allocate(8); }),
                            Work([&] { gpu.allocate(stream, 8); }), Work([&] { gpu.query(stream); })}) {
    gpu.begin_capture(stream);
    EXPECT_THROW(wrong(), Refusal);
    EXPECT_THROW(gpu.submit(stream, [] {}), Refusal) << "the rest of it is lost";
    EXPECT_THROW(gpu.end_capture(stream), Refusal);
  }
  gpu.finish(stream);
}

TEST(SimulatedGpu, RefusesMemoryThatItHasNotAndCopiesToWhereNoneIs) {
  Gpu gpu({.memory = 1000});
  Stream& stream = *gpu.make_stream();
  EXPECT_THROW(gpu.allocate(1001), Refusal);
  auto* const x = static_cast<std::byte*>(gpu.allocate(600));
  EXPECT_THROW(gpu.allocate(600), Refusal);
  std::byte host[8] = {};
  EXPECT_THROW(gpu.copy(stream, x + 596, host, 8, Gpu::Direction::In), Refusal);
  EXPECT_THROW(gpu.copy(stream, host, x, 8, Gpu::Direction::In), Refusal);
  gpu.release(x);
  EXPECT_EQ(gpu.free_bytes(), 1000);
}

TEST(SimulatedGpu, AFaultIsTheAnswerToAllThatFollows) {
  Gpu gpu({.pace = Pace::Late});
  Stream& stream = *gpu.make_stream();
  gpu.submit(stream, [] { throw std::logic_error("wrong"); });
  EXPECT_THROW(gpu.finish(stream), Refusal);
  EXPECT_THROW(gpu.allocate(8), Refusal);
}

}  // namespace
}  // namespace lethe::simulated
