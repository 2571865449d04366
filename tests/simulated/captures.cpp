// Marks in streams of a simulated GPU, and what is recorded of streams.
#include <algorithm>

#include "tests/simulated/gpu.h"

namespace lethe::simulated {

std::size_t launches_in(const Graph& graph) {
  const auto works = [](const auto& recorded) { return recorded.second.work != nullptr; };
  return static_cast<std::size_t>(std::count_if(graph->tasks.begin(), graph->tasks.end(), works));
}

Event Gpu::record(Stream& stream) {
  const Event mark = std::make_shared<Mark>(Mark{.stream = &stream, .capture = stream.captured});
  mark->recorded = stream.captured != nullptr;
  take(stream, {.reaches = mark});
  return mark;
}

/// A stream that waits for a mark that is recorded is recorded from there on.
void Gpu::wait(Stream& stream, const Event& event) {
  const std::shared_ptr<Capture> of_mark = event ? event->capture.lock() : nullptr;
  if (event && event->recorded && !(of_mark && of_mark->open)) throw Refusal::InvalidValue;
  if (of_mark && !stream.captured) {
    stream.captured = of_mark;
    of_mark->streams.push_back(&stream);
  }
  if (stream.captured != of_mark) check_not_capturing(stream);
  if (of_mark || (event && !event->reached)) take(stream, {.awaits = event});
}

void Gpu::begin_capture(Stream& stream) {
  check();
  if (stream.captured) throw Refusal::IllegalState;
  stream.captured = std::make_shared<Capture>();
  stream.captured->streams.push_back(&stream);
}

/// The last that each other stream has recorded must be a mark that the first waits for.
Graph Gpu::end_capture(Stream& stream) {
  if (!stream.captured || stream.captured->streams.front() != &stream) throw Refusal::IllegalState;
  const std::shared_ptr<Capture> captured = stream.captured;
  for (Stream* const each : captured->streams) each->captured.reset();
  captured->open = false;
  if (captured->invalid) throw Refusal::CaptureInvalidated;
  for (Stream* const each : captured->streams) {
    const auto last = std::find_if(captured->tasks.rbegin(), captured->tasks.rend(),
                                   [&](const auto& recorded) { return recorded.first == each; });
    const bool joined = std::any_of(captured->tasks.begin(), captured->tasks.end(), [&](const auto& recorded) {
      return recorded.first == &stream && recorded.second.awaits && recorded.second.awaits == last->second.reaches;
    });
    if (each != &stream && !joined) throw Refusal::CaptureUnjoined;
  }
  return captured;
}

void Gpu::launch(Stream& stream, const Graph& graph) {
  std::map<Event, Event> marks;  // of this launch, by those that were recorded
  for (const auto& [recorded_in, task] : graph->tasks) {
    Stream& to = recorded_in == graph->streams.front() ? stream : *recorded_in;
    Task again = task;
    if (task.reaches) again.reaches = marks[task.reaches] = std::make_shared<Mark>(Mark{.stream = &to});
    if (task.awaits) again.awaits = marks.at(task.awaits);
    take(to, std::move(again));
  }
}

}  // namespace lethe::simulated
