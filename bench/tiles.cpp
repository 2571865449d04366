// Products of bf16 beside what the processor reaches: a loop of products of tiles, by AMX or by AVX-512's products of
// pairs, that come from the second-level cache. Each product takes its factors in turn from `--megabytes` of memory, as
// a training step does, and once more from the same place. GFLOP/s, and their share of the loop's; as a table.
#include <cmath>
#include <cstdlib>
#include <memory>
#include <utility>

#include "bench/bench.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/workers.h"
#include "kernels/gemm/gemm.h"
#include "kernels/tiles/dots.h"

using namespace lethe;

namespace {

constexpr std::int64_t kLoopBytes =
    512 << 10;  // of a worker: more than a first-level cache, less than a second-level one

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<char, Free>;
/// Of numbers that are 1.
Memory ones(std::int64_t bytes) {
  Memory memory(static_cast<char*>(std::aligned_alloc(4096, static_cast<std::size_t>(round_up(bytes, 4096)))));
  check_as(Exit::Device, memory != nullptr, "no memory");
  std::fill_n(reinterpret_cast<Bf16*>(memory.get()), bytes / 2, Bf16(1));
  return memory;
}

/// GFLOP/s of all threads together. AVX-512 reads each tile several times: a piece at a time, which stays in a
/// first-level cache.
template <class Tiles>
double rate_of_loop(int threads, int runs) {
  constexpr std::int64_t kTimes = 100, kSteps = kLoopBytes / 4 / (tiles::kSize * 2), kTileBytes = tiles::kSize * 2;
  constexpr std::int64_t kPiece = std::is_same_v<Tiles, tiles::AmxTiles> ? kSteps : tiles::Panel::kPieceTiles;
  const Memory memory = ones(threads * kLoopBytes);
  const double seconds = median_seconds(runs, [&] {
    parallel_tasks(threads, threads, [&](std::int64_t task, int) {
      Tiles registers;
      float sums[tiles::kBlock * tiles::kBlock] = {};
      for (std::int64_t again = 0; again < kTimes; ++again) {
        const auto* from = reinterpret_cast<const Bf16*>(memory.get() + task * kLoopBytes);
        for (std::int64_t step = 0; step < kSteps; step += kPiece, from += 4 * kPiece * tiles::kSize)
          multiply_block(registers, kPiece, {from, kTileBytes / tiles::kRows, tiles::kSize, kPiece * tiles::kSize},
                         from + 2 * kPiece * tiles::kSize, true, {tiles::kBlock, tiles::kBlock},
                         {sums, tiles::kBlock * sizeof(float), tiles::kColumns, tiles::kRows * tiles::kBlock});
      }
    });
  });
  constexpr double kFlop = 2.0 * tiles::kRows * tiles::kColumns * tiles::kDepth;
  return static_cast<double>(threads * kTimes * kSteps * 4) * kFlop * 1e-9 / seconds;
}

/// Of a product from memory that was not touched for a while, and from the same memory again.
struct Rates {
  double in_turn, again;
};
Rates rates_of(const GemmShape& s, int threads, std::int64_t bytes, int runs) {
  const auto kernel = prepare_gemm(s, DType::bf16, {.threads = threads});
  const std::int64_t a = round_up(2 * s.m * s.k, 4096), b = round_up(2 * s.k * s.n, 4096),
                     c = round_up((s.wide_c ? 4 : 2) * s.m * s.n, 4096);
  const std::int64_t sets = std::max<std::int64_t>(1, bytes / (a + b + c));
  const Memory memory = ones(sets * (a + b + c)), workspace = ones(kernel->workspace_bytes());
  std::int64_t set = 0;
  const auto run = [&] {
    char* const at = memory.get() + set * (a + b + c);
    void* in[] = {at, at + a, nullptr};
    void* out = at + a + b;
    kernel->run({.inputs = in, .outputs = &out, .workspace = workspace.get()});
  };
  const double flop = 2e-9 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
  const double again = flop / median_seconds(runs, run);
  return {flop / median_seconds(std::max<int>(runs, static_cast<int>(sets)), [&] { run(), set = (set + 1) % sets; }),
          again};
}

void print_rates(int threads, std::int64_t bytes, int runs) {
  const Workers workers(threads);
  const double loop =
      tiles::for_tiles([&](auto of) { return rate_of_loop<typename decltype(of)::type>(threads, runs); });
  std::cout << "products of tiles from the second-level cache, " << threads << " threads: " << std::llround(loop)
            << " GFLOP/s\n\n| product | m | n | k | from memory | of the loop | from the cache | of the loop |\n"
            << "|---|---:|---:|---:|---:|---:|---:|---:|\n";
  const auto print = [&](const char* name, const GemmShape& s) {
    const Rates rates = rates_of(s, threads, bytes, runs);
    std::cout << "| " << name << " | " << s.m << " | " << s.n << " | " << s.k << " | " << std::llround(rates.in_turn)
              << " | " << std::llround(100 * rates.in_turn / loop) << " % | " << std::llround(rates.again) << " | "
              << std::llround(100 * rates.again / loop) << " % |" << std::endl;
  };
  for (const std::int64_t rows : {160, 256, 1024, 4096})
    for (const auto& [in, out] :
         {std::pair<std::int64_t, std::int64_t>{768, 768}, {768, 3072}, {3072, 768}, {4096, 4096}}) {
      print("x W^T", {.m = rows, .n = out, .k = in, .transpose_b = true});
      print("dy W", {.m = rows, .n = in, .k = out});
      GemmShape of_weight{.m = out, .n = in, .k = rows, .transpose_a = true, .wide_c = true};
      print("dy^T x, in f32", of_weight);
      of_weight.accumulate = true;
      print("dy^T x, added", of_weight);
      print("a^T b^T", {.m = rows, .n = out, .k = in, .transpose_a = true, .transpose_b = true});
    }
}

}  // namespace

int main(int argc, char** argv) {
  int threads = processors(), runs = 11;
  std::int64_t megabytes = 256;
  CLI::App app{"Products of bf16 beside what products of tiles reach", "bench_tiles"};
  app.add_option("--threads", threads, "default: one a processor")->check(CLI::PositiveNumber);
  app.add_option("--runs", runs)->check(CLI::PositiveNumber);
  app.add_option("--megabytes", megabytes, "of factors and results, in turn")->check(CLI::PositiveNumber);
  return run_program(app, argc, argv, [&] {
    check_as(Exit::Device, tiles::are_fast(), "this processor multiplies no bf16");
    print_rates(threads, megabytes << 20, runs);
  });
}
