// What `train eval` says of the scores.
#pragma once
#include <string>
#include <vector>

#include "train/session/evaluator.h"

namespace lethe {

/// `loss 0.523 acc 0.8123 correct 8123 samples 10000`; scores of tokens end with ` perplexity 1.69`, those that have
/// means over classes with ` f1 0.8021` or ` iou 0.7012`.
std::string text_of(const Scores& scores);

/// Which of the counts by class are shown.
struct ScoreParts {
  bool top = false, by_class = false, confusion = false;
  bool iou = false;  // with the others of each class
};

/// `names` by class; a class without one has its number. `form` is text or json, which has
/// {"loss","accuracy","correct","samples"}, of tokens "perplexity" and, of what is shown, "top":
/// {"k","accuracy","correct"}, "classes": [{"class","samples","correct","precision","recall","f1"}] and "macro":
/// {"precision","recall","f1"}, both with "iou" if so asked, "confusion": [[count by predicted class] by true class].
/// Numbers that are not finite are null.
std::string scores_as(const std::string& form, const Scores& scores, const ClassCounts& counts,
                      const std::vector<std::string>& names, const ScoreParts& parts);

/// The name of a class, or its number.
std::string class_name(const std::vector<std::string>& names, std::int64_t label);

}  // namespace lethe
