#include "memopt/memopt.h"

#include <algorithm>
#include <chrono>

#include "framework/error.h"
#include "memopt/check_plan.h"
#include "memopt/early_update.h"
#include "memopt/release.h"
#include "memopt/reuse.h"
#include "memopt/stage_inputs.h"

namespace lethe {
namespace {

constexpr const char* kKnown = "none, level=0, level=1 (each with ,release and ,inplace) or level=2";

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// What `f` gives; `ms` is how long it took.
template <class F>
auto timed(double& ms, F f) {
  const Clock::time_point begin = Clock::now();
  auto made = f();
  ms = ms_since(begin);
  return made;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t comma; (comma = text.find(',', begin)) != std::string::npos; begin = comma + 1)
    parts.push_back(text.substr(begin, comma - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

Level level_named(const std::string& text, const std::string& part) {
  if (part == "none") return Level::None;
  if (part == "level=0") return Level::SameShape;
  if (part == "level=1") return Level::Fits;
  if (part == "level=2") return Level::Arena;
  check(part != "level=3", "--memopt ", text,
        ": level 3, recomputing under a budget, is not there yet; known: ", kKnown);
  fail("--memopt ", text, ": unknown setting '", part, "'; known: ", kKnown);
}

/// What makes every update wait for all gradients; "" if nothing does.
std::string needs_all_gradients(const Program& program) {
  for (const Op& op : program.blocks[0].ops)
    if (op.type == "clip_scale")
      return op.in[0] == kNone ? "clipping by the global norm" : "skipping a step whose gradients overflow";
  return "";
}

/// Early updates, unless what was asked for keeps all gradients to the end anyway.
Program with_early_updates(Program program, const MemoptOptions& options, Planned& made) {
  if (options.pins.skip_grads) {
    made.notes.emplace_back("updates stay at the end of the step: --skip-grads keeps every parameter gradient");
    return program;
  }
  if (const std::string what = needs_all_gradients(program); !what.empty())
    made.notes.push_back("updates stay at the end of the step: " + what + " needs all gradients first");
  return update_early(std::move(program));
}

/// None, 0 and 1: a buffer for each storage, or for several in turn.
Plan plan_in_buffers(const Program& program, const Liveness& live, const Sharing& sharing, const Workspaces& workspaces,
                     Level level, Log& log) {
  const Fit fit = level == Level::None ? Fit::Never : level == Level::SameShape ? Fit::SameShape : Fit::LargeEnough;
  const std::vector<int> of_storage = reuse_buffers(program, live, sharing, {.fit = fit}, log);
  std::vector<int> of_var;
  for (const int storage : sharing.of) of_var.push_back(of_storage[static_cast<std::size_t>(storage)]);
  return plan_buffers(program, of_var, workspaces);
}

}  // namespace

MemoptOptions parse_memopt(const std::string& text) {
  const std::vector<std::string> parts = split(text);
  MemoptOptions options{.level = level_named(text, parts.front())};
  for (std::size_t i = 1; i < parts.size(); ++i) {
    check(parts[i] == "release" || parts[i] == "inplace", "--memopt ", text, ": unknown '", parts[i],
          "' behind the level; known: ", kKnown);
    bool& wanted = parts[i] == "release" ? options.release : options.in_place;
    check(!wanted, "--memopt ", text, ": '", parts[i], "' stands there twice");
    check(options.level != Level::Arena, "--memopt ", text, ": level=2 ",
          parts[i] == "release" ? "gives every byte its place beforehand, so there is nothing to release"
                                : "is in place already",
          "; say --memopt level=2");
    wanted = true;
  }
  if (options.level == Level::Arena) options.in_place = true;
  return options;
}

Planned plan_memory(Program program, Prepared& prepared, const MemoptOptions& options) {
  const Clock::time_point begin = Clock::now();
  Planned made;
  Log log(options.print_log);
  const std::vector<Pin> pins = collect_pins(program, options.pins);
  if (options.level == Level::Arena && options.early_updates)
    program = with_early_updates(std::move(program), options, made);
  made.workspaces = timed(made.kernels_ms, [&] { return workspaces_of(program, prepared); });
  made.live = timed(made.liveness_ms, [&] { return liveness(program); });
  const Liveness& live = made.live;
  made.sharing = options.in_place ? share_in_place(program, live, pins, log) : share_views(program, live, pins);
  const Sharing& sharing = made.sharing;
  if (options.level == Level::Arena) {
    ArenaPlan arena = plan_arena(program, live, sharing, made.workspaces, options.seconds);
    made.plan = std::move(arena.plan);
    made.arena = arena.facts;
    if (options.stage_inputs) {
      made.plan.staging = stage_inputs(program, live, sharing, made.plan, made.workspaces);
      if (made.plan.staging.inputs.empty())
        made.notes.emplace_back("inputs are copied between steps: no memory for them is idle towards the end of one");
    }
  } else {
    made.plan = plan_in_buffers(program, live, sharing, made.workspaces, options.level, log);
  }
  check_plan(program, live, pins, sharing, made.plan, made.workspaces);
  if (options.level != Level::None || options.release || options.in_place)
    for (const int storage : sharing.of) made.plan.kept.push_back(sharing.storages[storage].pin != Pin::None);
  if (options.release) {
    program = release_memory(std::move(program), live, sharing, made.plan);
    made.live = liveness(program);
    made.workspaces = workspaces_of(program, prepared);
  }
  made.program = std::move(program);
  made.log = log.lines();
  made.plan_ms = ms_since(begin) - made.kernels_ms;
  return made;
}

}  // namespace lethe
