// A GPU simulated on the host, as a program sees one through the CUDA runtime: memory that the host cannot touch,
// streams whose work is done when it suits the GPU, events, recorded graphs. What is asked of a GPU that it would
// refuse, it refuses. Kernels are run by tests/simt, products and convolutions by libraries beside this file.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace lethe::simulated {

/// When work is done, as far as streams, events and waits of the host leave it open: at once, not before the host waits
/// for it, or by lot.
enum class Pace { Early, Late, Random };

/// From the environment: SIMULATED_GPU_COUNT, _DRIVER (13000 for CUDA 13.0; 0: none), _MEMORY (bytes), _PACE (early,
/// late or a seed); _NO_ENGINES: its cuDNN has none.
struct Settings {
  int count = 1, driver = 1 << 20;
  std::int64_t memory = std::int64_t{1} << 32;
  Pace pace = Pace::Late;
  unsigned seed = 0;
  static Settings of_environment();
};

/// Why a call is refused, named as CUDA's errors.
enum class Refusal { InvalidValue, MemoryAllocation, CaptureUnsupported, CaptureInvalidated, IllegalState, Fault };

using Work = std::function<void()>;
using Graph = std::vector<Work>;
struct Stream;

/// A place in a stream that others may wait for.
struct Mark {
  Stream* stream;
  bool reached = false;
};
using Event = std::shared_ptr<Mark>;  // the last mark; null: never recorded

struct Task {
  Work work = {};
  std::shared_ptr<Mark> reaches = {}, awaits = {};
};
struct Stream {
  std::deque<Task> tasks = {};
  std::unique_ptr<Graph> captured = {};
  bool invalid = false;  // what is captured
};

class Gpu {
 public:
  /// Of the process, made by the environment.
  static Gpu& the();
  explicit Gpu(const Settings& settings);
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  const Settings& settings() const { return settings_; }
  void set_pace(Pace pace, unsigned seed = 0);

  // All of these throw a Refusal where a GPU would refuse.
  void* allocate(std::int64_t bytes);
  void release(void* memory);
  void* allocate_host(std::int64_t bytes);
  void release_host(void* memory);
  bool owns(const void* memory, std::size_t bytes) const;
  std::int64_t free_bytes() const;

  enum class Way { In, Out, Within };
  void copy(Stream& stream, void* to, const void* from, std::size_t bytes, Way way);
  /// From a pool: memory that is the stream's from there on, of bytes that it gave back before if there are such.
  void* allocate(Stream& stream, std::int64_t bytes);
  void release(Stream& stream, void* memory);

  void submit(Stream& stream, Work work);
  Event record(Stream& stream);
  void wait(Stream& stream, const Event& event);
  void finish(Stream& stream);
  void finish_all();
  Stream* make_stream();
  void destroy(Stream* stream);

  void begin_capture(Stream& stream);
  Graph end_capture(Stream& stream);

  /// Bytes of each piece of memory taken since the last call.
  std::vector<std::int64_t> take_allocations();

 private:
  struct Piece;
  using Pieces = std::map<const std::byte*, std::unique_ptr<Piece>>;
  Pieces::const_iterator find(const void* memory) const;
  bool is_pinned(const void* memory) const;
  void check() const;
  void check_not_capturing(Stream& stream) const;
  void refuse_in_captures();
  void push(Stream& stream, Task task);
  void run_next(Stream& stream);
  void let_work();
  void open_memory(bool open);

  Settings settings_;
  std::mt19937 lots_;
  Pieces pieces_;
  std::map<const std::byte*, std::size_t> pinned_;
  std::multimap<std::int64_t, void*> pool_;  // given back, by bytes
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<std::int64_t> taken_;
  std::string fault_;
  int working_ = 0;  // depth
};

}  // namespace lethe::simulated
