// A training program as level 3 sees it, the ladder that it makes of it, and, if asked for, what much more annealing
// makes: as JSON, for bench/optimum.py.
#include <nlohmann/json.hpp>

#include "bench/bench.h"
#include "memopt/plan.h"
#include "memopt/recompute/annealing.h"
#include "memopt/recompute/least_order.h"
#include "memopt/recompute/search.h"
#include "models/network.h"
#include "optimizer/optimizer.h"

using namespace lethe;

namespace {

using Json = nlohmann::ordered_json;

constexpr int kThreads = 2, kLooks = 1'000'000;

Json json_of(const TapeCall& call) {
  Json joins = Json::array();
  for (const TapeJoin& join : call.joins) joins.push_back({join.value, join.seconds});
  return {{"in", call.in},
          {"out", call.out},
          {"in_place", call.in_place},
          {"joins", joins},
          {"workspace", call.workspace},
          {"seconds", call.seconds}};
}

Json json_of(const Program& program, const Tape& tape) {
  Json ops = Json::array(), values = Json::array(), parts = Json::array();
  for (std::size_t i = 0; i < tape.ops.size(); ++i) {
    const TapeOp& op = tape.ops[i];
    ops.push_back({{"type", program.blocks[0].ops[i].type}, {"call", json_of(op.call)}});
    ops.back().update({{"view", op.is_view}, {"repeats", op.repeats}, {"until", op.until}});
    if (op.has_again) ops.back()["again"] = json_of(op.again);
  }
  for (std::size_t v = 0; v < tape.values.size(); ++v) {
    const TapeValue& value = tape.values[v];
    values.push_back({{"name", program.vars[v].name}, {"bytes", value.bytes}, {"maker", value.maker}});
    values.back().update({{"given", value.given}, {"lasts", value.lasts}, {"turn", value.turn}});
    values.back()["read_by_backward"] = value.read_by_backward;
  }
  for (const TapePart& part : tape.parts) parts.push_back({part.begin, part.turn, part.end});
  return {{"ops", ops},
          {"values", values},
          {"parts", parts},
          {"candidates", tape.candidates},
          {"second_pass", tape.second_pass},
          {"seconds", tape.seconds},
          {"forward_seconds", tape.forward_seconds}};
}

/// What is done with each candidate: a digit, as RecomputePolicy counts.
Json json_of(const Tape& tape, const Rung& rung) {
  std::string choice;
  for (const std::vector<VarId>& alike : tape.candidates)
    choice += static_cast<char>('0' + static_cast<int>(rung.choice[alike.front()]));
  return {{"choice", choice}, {"peak", rung.peak}, {"seconds", rung.seconds}};
}

struct Annealings {
  double steps = 0;  // of each
  int seeds = 2;
  std::vector<double> shares;  // of the peak with all kept, falling
};

/// The cheapest found for each share: each seed begins with the best of the share before and with the ladder's.
Json annealed_for(const Tape& tape, const std::vector<Rung>& rungs, const Annealings& asked) {
  Json all = Json::array();
  Rung above = rungs.front();
  for (const double share : asked.shares) {
    const auto target = static_cast<std::int64_t>(share * static_cast<double>(rungs.front().peak));
    const auto own = std::ranges::find_if(rungs, [&](const Rung& rung) { return rung.peak <= target; });
    std::optional<Rung> best = own == rungs.end() ? std::nullopt : std::optional(*own);
    for (int seed = 0; seed < 2 * asked.seeds; ++seed) {
      const Rung& start = seed % 2 == 0 || own == rungs.end() ? above : *own;
      std::optional<Rung> made = annealed(tape, start, target, asked.steps, static_cast<std::uint64_t>(seed));
      if (made && (!best || made->seconds < best->seconds)) best = std::move(made);
    }
    all.push_back(best ? json_of(tape, *best) : Json());
    if (best) above = *best;
  }
  return all;
}

Json run(const std::string& model, std::int64_t batch, const Sets& sets, const Annealings& asked) {
  Network network = load_network(model, {.batch = batch}, sets);
  const auto gradients = append_backward(network.program, network.loss, {}, kNone, network.frozen);
  append_updates(network.program, gradients, network.params, optimizer_named("momentum"));
  Prepared prepared{DeviceInfo{.threads = kThreads}};
  MemoptOptions options = suited(parse_memopt("level=3"), prepared.device());
  options.pins.fetched = {network.loss};
  MemoryStage stage(prepared, options);
  Planned form{.program = network.program};
  stage.rewrite_for_arena(form);
  stage.fuse_into_updates(form);
  Json orders = Json::array();
  const auto add_order = [&](Planned order) {
    stage.fuse(order);
    for (Op& op : order.program.blocks[0].ops) op.role = Role::Backward;  // nothing is made again
    orders.push_back(json_of(order.program, stage.tape_for(order.program)));
  };
  add_order(form);
  add_order(
      {.program = least_order(form.program, stage.tape_for(form.program), kLooks).program.value_or(form.program)});
  stage.order_for_repeats(form);
  add_order(form);
  const Tape tape = stage.tape_for(form.program);
  const std::vector<Rung> rungs = ladder(tape);
  Json steps = Json::array();
  for (const Rung& rung : rungs) steps.push_back(json_of(tape, rung));
  return {{"tape", json_of(form.program, tape)},
          {"least_peak", least_peak(tape)},
          {"ladder", steps},
          {"annealed", annealed_for(tape, rungs, asked)},
          {"orders", orders}};
}

}  // namespace

int main(int argc, char** argv) {
  std::string model;
  std::int64_t batch = 1;
  std::vector<std::string> words;
  Annealings asked;
  CLI::App app{"A training program's tape and ladder", "bench_tape"};
  app.add_option("MODEL", model)->required();
  app.add_option("BATCH", batch)->required()->check(CLI::PositiveNumber);
  app.add_option("--set", words, "K=V: a var of the network's file")->delimiter(',');
  app.add_option("--anneal", asked.steps, "steps of runs that each annealing looks at");
  app.add_option("--seeds", asked.seeds)->check(CLI::PositiveNumber);
  app.add_option("--shares", asked.shares, "of the peak with all kept, falling: what to anneal for")->delimiter(',');
  return run_program(app, argc, argv, [&] {
    Sets sets;
    for (const std::string& word : words) sets[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
    std::cout << run(model, batch, sets, asked) << '\n';
  });
}
