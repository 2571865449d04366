// Options of who trains on classes of unequal size.
#include "framework/error.h"
#include "train/data/class_balance.h"
#include "train/option_groups.h"

namespace lethe {

void add_class_weights(OptionSet& set, Options& o) {
  const auto complaint = [](const std::string& text) -> std::string {
    try {
      parse_class_weights(text);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  set.in("Training");
  set.add_read(
         "--class-weights",
         [&o](const std::string& text) { o.program.network.class_weights = parse_class_weights(text); }, "W,..",
         "What a label of each class counts in the loss: a number for each; balanced: the more the fewer\n"
         "there are for training; none: all alike (default)")
      ->check({complaint, {"balanced", "none"}})
      ->is({Fact::Kept});
}

void add_sampler(OptionSet& set, Options& o) {
  set.in("Data");
  set.add_read(
         "--sampler", [&o](const std::string& word) { o.data.balanced = word == "balanced"; }, "WORD",
         "shuffled: each sample once an epoch (default); balanced: each class is drawn alike, with replacement")
      ->check(one_of({"shuffled", "balanced"}))
      ->is({Fact::Kept});
}

void add_best(OptionSet& set, Options& o) {
  set.add_read(
         "--best", [&o](const std::string& name) { o.course.best = best_named(name); }, "MEASURE",
         "By what the best evaluation is chosen: acc (default), loss, f1 or iou; means over classes need room\n"
         "for the logits")
      ->check(one_of({"acc", "loss", "f1", "iou"}))
      ->is({Fact::Kept});
}

}  // namespace lethe
