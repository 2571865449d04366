#include "train/rank_options.h"

#include "train/option_groups.h"
#include "train/quantities.h"
#include "train/session/programs.h"
#include "train/values.h"

namespace lethe {

void add_ranks(CLI::App& app, Options& o) {
  add_option(app, "--shards", o.ranks.shards, "V",
             "Equal parts of a batch that go through the network one by one, on whichever rank: the same\n"
             "shards give the same bits on 1, 2, 4... ranks (default 1; started by mpirun up to 8)")
      ->check(whole_number(1, kMostParts))
      ->group("Ranks");
  app.add_option_function<std::string>(
         "--bucket", [&o](const std::string& text) { o.ranks.bucket = parse_bytes(text, "--bucket"); },
         "Small gradients are summed over ranks in buckets of at least so much (default 1MiB)")
      ->option_text("SIZE")
      ->take_last()
      ->group("Ranks");
  add_option(app, "--zero", o.ranks.zero, "STAGE",
             "What each rank has a share of alone (ZeRO): 1 states of the update, 2 gradients too, 3 parameters too\n"
             "(default 0: nothing)")
      ->check(whole_number(0, 3))
      ->group("Ranks");
  if (o.command != Command::Plan) {
    add_option(app, "--timeout", o.ranks.timeout, "S",
               "Seconds that ranks wait for one another, then all of them end (default 120)")
        ->check(whole_number(1, std::int64_t{7} * 24 * 3600))
        ->group("Ranks");
    return;
  }
  add_option(app, "--ranks", o.ranks.ranks, "R",
             "Plans what each of so many ranks takes, and what it sends (default 1)")
      ->check(whole_number(1, kMostParts))
      ->group("Ranks");
  app.add_option_function<std::string>(
         "--network", [&o](const std::string& text) { o.ranks.network = parse_link(text, "--network"); },
         "What a link between ranks moves in a second, and its latency, for the time that sending takes: 25Gb,10us")
      ->option_text("RATE,LATENCY")
      ->take_last()
      ->group("Ranks");
}

}  // namespace lethe
