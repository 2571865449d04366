// What the simulated GPU is made of: its settings, streams of tasks and marks in them.
#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace lethe::simulated {

/// When work is done, as far as streams, events and waits of the host leave it open: at once, not before the host waits
/// for it, or by lot.
enum class Pace { Early, Late, Random };

/// From the environment: SIMULATED_GPU_COUNT, _DRIVER (13000 for CUDA 13.0; 0: none), _MEMORY (bytes), _PACE (early,
/// late or a seed); _MODEL (h200, unless set); _NO_RECORDING: it refuses to; _TELL: a line on stderr for each launch of
/// a graph, each time that is taken, each wait of the host and each question to heuristics; _FAILS, _SLOW: what its
/// libraries fail at and are slow with (numbers.h).
struct Settings {
  int count = 1, driver = 1 << 20;
  std::int64_t memory = std::int64_t{1} << 32;
  Pace pace = Pace::Late;
  unsigned seed = 0;
  static Settings of_environment();
};

/// Why a call is refused, named as CUDA's errors.
enum class Refusal {
  InvalidValue,
  MemoryAllocation,
  CaptureUnsupported,
  CaptureInvalidated,
  CaptureUnjoined,
  IllegalState,
  Fault
};

using Work = std::function<void()>;
struct Stream;
struct Capture;
class Gpu;

/// A place in a stream that others may wait for.
struct Mark {
  Stream* stream;
  bool reached = false;
  std::chrono::steady_clock::time_point at = {};  // of the host, when it is reached
  std::weak_ptr<Capture> capture = {};            // in which it is recorded
  bool recorded = false;                          // it is in such a one
};
using Event = std::shared_ptr<Mark>;  // the last mark; null: never recorded

struct Task {
  Work work = {};
  std::function<bool()> ready = {};  // whether it can be done without waiting for others; null: it can
  Event reaches = {}, awaits = {};
};
struct Stream {
  Gpu* gpu = nullptr;
  std::deque<Task> tasks = {};
  std::shared_ptr<Capture> captured = {};
};

/// What is recorded: of the stream in which that began, the first, and of those that wait for marks in it.
struct Capture {
  std::vector<Stream*> streams = {};
  std::vector<std::pair<Stream*, Task>> tasks = {};
  bool open = true, invalid = false;
};
using Graph = std::shared_ptr<const Capture>;
/// Launches of kernels and calls of libraries.
std::size_t launches_in(const Graph& graph);

}  // namespace lethe::simulated
