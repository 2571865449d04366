// A GPU simulated on the host, as a program sees one through the CUDA runtime: memory that the host cannot touch,
// streams whose work is done when it suits the GPU, events, recorded graphs. What is asked of a GPU that it would
// refuse, it refuses. Kernels are run by tests/simt, products and convolutions by libraries beside this file.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "tests/simulated/streams.h"

namespace lethe::simulated {

class Gpu {
 public:
  /// Of the process, made by the environment when first asked for.
  static Gpu& at(int index);
  /// That which the calling thread has turned to, at first 0.
  static Gpu& the() { return at(current()); }
  static int current();
  static void turn_to(int index);
  /// The one that has the memory, of the device or pinned; else the calling thread's.
  static Gpu& owner_of(const void* memory);
  /// Held by a thread while it asks anything of them; their work is done by the thread that waits for it.
  static std::unique_lock<std::recursive_mutex> alone();
  /// For a while, by the thread that holds them, once.
  static void leave_to_others();
  explicit Gpu(const Settings& settings);
  ~Gpu();

  const Settings& settings() const { return settings_; }
  int index() const { return index_; }
  void set_pace(Pace pace, unsigned seed = 0);

  // All of these throw a Refusal where a GPU would refuse.
  void* allocate(std::int64_t bytes);
  void release(void* memory);
  void* allocate_host(std::int64_t bytes);
  void release_host(void* memory);
  bool owns(const void* memory, std::size_t bytes) const;
  std::int64_t free_bytes() const;

  enum class Direction { In, Out, Within };
  void copy(Stream& stream, void* to, const void* from, std::size_t bytes, Direction direction);
  /// From a pool: memory that is the stream's from there on, of bytes that it gave back before if there are such.
  void* allocate(Stream& stream, std::int64_t bytes);
  void release(Stream& stream, void* memory);

  void submit(Stream& stream, Work work, std::function<bool()> ready = {});
  /// The answer to every call from then on.
  void fail(const std::string& why);
  Event record(Stream& stream);
  void wait(Stream& stream, const Event& event);
  void finish(Stream& stream);
  void finish_all();
  /// Lets streams go on as far as they can, and says whether this one has come to its end.
  bool query(Stream& stream);
  Stream* make_stream();
  void destroy(Stream* stream);

  void begin_capture(Stream& stream);
  Graph end_capture(Stream& stream);
  void launch(Stream& stream, const Graph& graph);

  /// Bytes of each piece of memory taken since the last call.
  std::vector<std::int64_t> take_allocations();

 private:
  struct Piece;
  class Working;
  using Pieces = std::map<const std::byte*, std::unique_ptr<Piece>>;
  Pieces::const_iterator find(const void* memory) const;
  bool is_pinned(const void* memory) const;
  void check() const;
  void check_not_capturing(Stream& stream) const;
  void refuse_in_captures();
  void take(Stream& stream, Task task);
  static bool can_run_next(const Stream& stream);
  void run_next(Stream& stream);
  void run_what_can();
  void let_work();
  void open_memory(bool open);

  Settings settings_;
  int index_ = 0;
  std::mt19937 lots_;
  Pieces pieces_;
  std::map<const std::byte*, std::size_t> pinned_;
  std::multimap<std::int64_t, void*> pool_;  // given back, by bytes
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<std::int64_t> taken_;
  std::string fault_;
  int working_ = 0;    // depth
  bool open_ = false;  // the memory, to its work
};

}  // namespace lethe::simulated
