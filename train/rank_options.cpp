#include "train/rank_options.h"

#include "framework/error.h"
#include "train/option_groups.h"
#include "train/quantities.h"
#include "train/session/programs.h"
#include "train/values.h"

namespace lethe {
namespace {

Exchange exchange_named(const std::string& name) {
  return name == "ring" ? Exchange::Ring : name == "tree" ? Exchange::Tree : Exchange::Pieces;
}

/// "4", "1..1024".
void read_ranks(const std::string& text, RankOptions& ranks) {
  const auto number = [&](const std::string& part) {
    const std::string wrong = whole_number(1, kMostParts).complaint(part);
    check(wrong.empty(), "--ranks: ", quote(text),
          " is neither a number of ranks nor two of them such as 1..1024: ", wrong);
    return std::int64_t{std::stoll(part)};
  };
  const std::size_t dots = text.find("..");
  ranks.ranks = number(text.substr(0, dots));
  ranks.most = dots == std::string::npos ? 0 : number(text.substr(dots + 2));
  check(ranks.most == 0 || ranks.most > ranks.ranks, "--ranks ", text, ": ", ranks.most, " is not above ", ranks.ranks);
}

void read_zero(const std::string& text, RankOptions& ranks) {
  ranks.cheapest_zero = text == "auto";
  ranks.zero = ranks.cheapest_zero ? 0 : std::stoi(text);
}

}  // namespace

void add_ranks(OptionSet& set, Options& o) {
  set.in("Ranks");
  set.add("--shards", o.ranks.shards, "V",
          "Equal parts of a batch that go through the network one by one, on whichever rank: the same\n"
          "shards give the same bits on 1, 2, 4... ranks (default 1; started by mpirun up to 8)")
      ->check(whole_number(1, kMostParts))
      ->is({Fact::Kept});
  set.add_read(
      "--bucket", [&o](const std::string& text) { o.ranks.bucket = parse_bytes(text, "--bucket"); }, "SIZE",
      "Small gradients are summed over ranks in buckets of at least so much (default 1MiB)");
  set.add_read(
         "--zero", [&o](const std::string& text) { read_zero(text, o.ranks); }, "STAGE",
         "What each rank has a share of alone (ZeRO): 1 states of the update, 2 gradients too, 3 parameters too\n"
         "(default 0: nothing); auto: whichever of these sends least and fits the --memory-budget")
      ->check(one_of({"0", "1", "2", "3", "auto"}));
  set.add_read(
         "--sum-dtype", [&o](const std::string& name) { o.ranks.sums = dtype_named(name); }, "TYPE",
         "What shards give is summed in this, and rounded once: f32 or f64 (default f32)")
      ->check(one_of({"f32", "f64"}))
      ->is({Fact::Kept});
  set.add_flag("--sync-bn", o.ranks.sync_bn,
               "Batch norm takes its statistics over all shards (default: each of its own)")
      ->is({Fact::Kept});
}

void add_timeout(OptionSet& set, Options& o) {
  set.in("Ranks");
  set.add("--timeout", o.ranks.timeout, "S",
          "Seconds that ranks wait for one another, then all of them end (default 120)")
      ->check(whole_number(1, std::int64_t{7} * 24 * 3600));
}

void add_predicted_ranks(OptionSet& set, Options& o) {
  set.in("Ranks");
  set.add_read(
      "--ranks", [&o](const std::string& text) { read_ranks(text, o.ranks); }, "R|A..B",
      "Plans what each of so many ranks takes, and what it sends (default 1). A..B: instead predicts\n"
      "memory and time of a step on A, 2A.. B ranks, each with as much of a batch as on A");
  set.add_read(
         "--exchange", [&o](const std::string& name) { o.ranks.exchange = exchange_named(name); }, "HOW",
         "With --ranks A..B: how sums come to all ranks; in pieces, as they do in runs (default),\nround a ring or by "
         "a tree")
      ->check(one_of({"pieces", "ring", "tree"}));
  set.add_read(
      "--network", [&o](const std::string& text) { o.ranks.network = parse_link(text, "--network"); }, "RATE,LATENCY",
      "What a link between ranks moves in a second, and its latency, for the time that sending takes: 25Gb,10us");
}

}  // namespace lethe
