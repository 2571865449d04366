#include "tests/simulated/gpu.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <utility>

#include "tests/simulated/piece.h"

/// Handles of libraries are kept to the end of the process.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }

namespace lethe::simulated {
namespace {

std::int64_t number_in_environment(const char* name, std::int64_t otherwise) {
  const char* const text = std::getenv(name);
  return text ? std::strtoll(text, nullptr, 10) : otherwise;
}

}  // namespace

Settings Settings::of_environment() {
  Settings s;
  s.count = static_cast<int>(number_in_environment("SIMULATED_GPU_COUNT", s.count));
  s.driver = static_cast<int>(number_in_environment("SIMULATED_GPU_DRIVER", s.driver));
  s.memory = number_in_environment("SIMULATED_GPU_MEMORY", s.memory);
  const char* const set = std::getenv("SIMULATED_GPU_PACE");
  const std::string pace = set ? set : "late";
  s.pace = pace == "early" ? Pace::Early : pace == "late" ? Pace::Late : Pace::Random;
  if (s.pace == Pace::Random) s.seed = static_cast<unsigned>(std::stoul(pace));
  return s;
}

/// While there is one, the first task opens the memory for all that follow: opening takes longer than most of them.
class Gpu::Working {
 public:
  explicit Working(Gpu& gpu) : gpu_(gpu) { ++gpu_.working_; }
  ~Working() {
    if (--gpu_.working_ == 0) gpu_.open_memory(false);
  }
  Working(const Working&) = delete;
  Working& operator=(const Working&) = delete;

 private:
  Gpu& gpu_;
};

Gpu::Gpu(const Settings& settings) : settings_(settings), lots_(settings.seed) {}
Gpu::~Gpu() {
  for (const auto& [first, bytes] : pinned_) std::free(const_cast<std::byte*>(first));
}

void Gpu::set_pace(Pace pace, unsigned seed) {
  settings_.pace = pace;
  lots_.seed(seed);
}

void Gpu::check() const {
  if (!fault_.empty()) throw Refusal::Fault;
}

void Gpu::check_not_capturing(Stream& stream) const {
  if (!stream.captured) return;
  stream.captured->invalid = true;
  throw Refusal::CaptureUnsupported;
}

/// What may wait for the whole GPU has no place in what is recorded on any stream.
void Gpu::refuse_in_captures() {
  for (const auto& stream : streams_) check_not_capturing(*stream);
}

// ---- memory

Gpu::Pieces::const_iterator Gpu::find(const void* memory) const {
  auto found = pieces_.upper_bound(static_cast<const std::byte*>(memory));
  if (found == pieces_.begin()) return pieces_.end();
  --found;
  return static_cast<const std::byte*>(memory) < found->first + found->second->bytes ? found : pieces_.end();
}

bool Gpu::owns(const void* memory, std::size_t bytes) const {
  const auto found = find(memory);
  return found != pieces_.end() && static_cast<const std::byte*>(memory) + bytes <= found->first + found->second->bytes;
}

std::int64_t Gpu::free_bytes() const {
  std::int64_t free = settings_.memory;
  for (const auto& [first, piece] : pieces_) free -= static_cast<std::int64_t>(piece->bytes);
  return free;
}

void* Gpu::allocate(std::int64_t bytes) {
  check();
  refuse_in_captures();
  if (bytes > free_bytes()) throw Refusal::MemoryAllocation;
  auto piece = std::make_unique<Piece>(static_cast<std::size_t>(bytes));
  piece->open(open_);
  taken_.push_back(bytes);
  std::byte* const first = piece->first;
  pieces_.emplace(first, std::move(piece));
  return first;
}

void Gpu::release(void* memory) {
  if (!memory) return;
  const auto found = pieces_.find(static_cast<const std::byte*>(memory));
  if (found == pieces_.end()) throw Refusal::InvalidValue;
  refuse_in_captures();
  finish_all();
  pieces_.erase(found);
}

void* Gpu::allocate_host(std::int64_t bytes) {
  refuse_in_captures();
  void* const memory = std::malloc(static_cast<std::size_t>(bytes));
  pinned_.emplace(static_cast<const std::byte*>(memory), static_cast<std::size_t>(bytes));
  return memory;
}

/// Waits for nothing: copies that still read it are the program's mistake, which AddressSanitizer tells.
void Gpu::release_host(void* memory) {
  if (pinned_.erase(static_cast<const std::byte*>(memory)) == 0) throw Refusal::InvalidValue;
  std::free(memory);
}

bool Gpu::is_pinned(const void* memory) const {
  const auto found = pinned_.upper_bound(static_cast<const std::byte*>(memory));
  if (found == pinned_.begin()) return false;
  const auto& [first, bytes] = *std::prev(found);
  return static_cast<const std::byte*>(memory) < first + bytes;
}

void* Gpu::allocate(Stream& stream, std::int64_t bytes) {
  check_not_capturing(stream);  // a GPU would, but with a lifetime that no program here wants
  const auto found = pool_.find(bytes);
  if (found == pool_.end()) return allocate(bytes);
  void* const memory = found->second;
  pool_.erase(found);
  return memory;
}

void Gpu::release(Stream& stream, void* memory) {
  check_not_capturing(stream);
  const auto found = pieces_.find(static_cast<const std::byte*>(memory));
  if (found == pieces_.end()) throw Refusal::InvalidValue;
  const std::size_t bytes = found->second->bytes;
  submit(stream, [memory, bytes] { std::memset(memory, kPoison, bytes); });
  pool_.emplace(static_cast<std::int64_t>(bytes), memory);
}

std::vector<std::int64_t> Gpu::take_allocations() { return std::exchange(taken_, {}); }

void Gpu::open_memory(bool open) {
  if (std::exchange(open_, open) == open) return;
  for (const auto& [first, piece] : pieces_) piece->open(open);
}

// ---- streams

Stream* Gpu::make_stream() { return streams_.emplace_back(std::make_unique<Stream>(Stream{.gpu = this})).get(); }

void Gpu::destroy(Stream* stream) {
  const auto found = std::find_if(streams_.begin(), streams_.end(), [&](const auto& s) { return s.get() == stream; });
  if (found == streams_.end()) throw Refusal::InvalidValue;
  finish(*stream);
  streams_.erase(found);
}

void Gpu::submit(Stream& stream, Work work, std::function<bool()> ready) {
  take(stream, {.work = std::move(work), .ready = std::move(ready)});
}

void Gpu::take(Stream& stream, Task task) {
  check();
  if (stream.captured && stream.captured->invalid) throw Refusal::CaptureInvalidated;
  if (stream.captured) {
    stream.captured->tasks.emplace_back(&stream, std::move(task));
    return;
  }
  stream.tasks.push_back(std::move(task));
  let_work();
}

void Gpu::fail(const std::string& why) {
  fault_ = why;
  std::fprintf(stderr, "simulated GPU: %s\n", why.c_str());
}

void Gpu::let_work() {
  if (settings_.pace == Pace::Late || working_ > 0) return;
  if (settings_.pace == Pace::Early) return run_what_can();
  const Working working(*this);
  for (unsigned count = lots_() % 4; count > 0; --count) {
    Stream& stream = *streams_[lots_() % streams_.size()];
    if (can_run_next(stream)) run_next(stream);
  }
}

bool Gpu::can_run_next(const Stream& stream) {
  if (stream.tasks.empty()) return false;
  const Task& next = stream.tasks.front();
  return (!next.awaits || next.awaits->reached) && (!next.ready || next.ready());
}

void Gpu::run_what_can() {
  const Working working(*this);
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (const auto& stream : streams_)
      for (; can_run_next(*stream); goes_on = true) run_next(*stream);
  }
}

/// Waits for what the task needs; meanwhile other threads may ask GPUs.
void Gpu::run_next(Stream& stream) {
  if (const auto awaited = stream.tasks.front().awaits)
    while (!awaited->reached) run_next(*awaited->stream);
  while (fault_.empty() && !can_run_next(stream)) {
    const int depth = std::exchange(working_, 0);
    open_memory(false);
    leave_to_others();
    working_ = depth;
  }
  const Task task = std::move(stream.tasks.front());
  stream.tasks.pop_front();
  const Working working(*this);
  open_memory(true);
  const int turned_to = current();  // by the thread that waits: to any
  turn_to(index_);
  try {
    if (task.work && fault_.empty()) task.work();
  } catch (const std::exception& error) {
    fail(error.what());
  }
  turn_to(turned_to);
  if (task.reaches) {
    task.reaches->reached = true;
    task.reaches->at = std::chrono::steady_clock::now();
  }
}

void Gpu::finish(Stream& stream) {
  if (std::getenv("SIMULATED_GPU_TELL")) std::fputs("simulated GPU: a wait\n", stderr);
  check_not_capturing(stream);
  const Working working(*this);
  while (!stream.tasks.empty()) run_next(stream);
  check();
}

bool Gpu::query(Stream& stream) {
  check_not_capturing(stream);
  run_what_can();
  check();
  return stream.tasks.empty();
}

void Gpu::finish_all() {
  const Working working(*this);
  for (const auto& stream : streams_)
    while (!stream->tasks.empty()) run_next(*stream);
}

void Gpu::copy(Stream& stream, void* to, const void* from, std::size_t bytes, Direction direction) {
  if (bytes == 0) return;
  const void* const host = direction == Direction::In ? from : to;
  if (direction != Direction::In && !owns(from, bytes)) throw Refusal::InvalidValue;
  if (direction != Direction::Out && !owns(to, bytes)) throw Refusal::InvalidValue;
  if (direction != Direction::Within && find(host) != pieces_.end()) throw Refusal::InvalidValue;
  const bool direct = direction == Direction::Within || is_pinned(host);
  if (!direct) check_not_capturing(stream);
  if (direct || direction == Direction::Out) {
    submit(stream, [=] { std::memmove(to, from, bytes); });
    if (!direct) finish(stream);
    return;
  }
  const auto* const first = static_cast<const std::byte*>(from);
  submit(stream,
         [to, kept = std::vector<std::byte>(first, first + bytes)] { std::memcpy(to, kept.data(), kept.size()); });
}

}  // namespace lethe::simulated
