#include "train/report/score_report.h"

#include <nlohmann/json.hpp>

#include "framework/error.h"
#include "framework/formatted.h"
#include "train/report/text_table.h"

namespace lethe {
namespace {

using ScoreJson = nlohmann::ordered_json;

/// As columns show them.
std::vector<std::string> cells_of(const ClassScores& scores, bool iou) {
  std::vector<std::string> cells;
  for (const double score : {scores.precision, scores.recall, scores.f1}) cells.push_back(formatted("%.4f", score));
  if (iou) cells.push_back(formatted("%.4f", scores.iou));
  return cells;
}

std::string table_by_class(const ClassCounts& counts, const std::vector<std::string>& names, bool iou) {
  TextRows rows = {{"class", "samples", "correct", "precision", "recall", "f1"}};
  if (iou) rows[0].push_back("iou");
  const auto add = [&](std::vector<std::string> row, const ClassScores& scores) {
    const std::vector<std::string> cells = cells_of(scores, iou);
    row.insert(row.end(), cells.begin(), cells.end());
    rows.push_back(std::move(row));
  };
  for (std::int64_t c = 0; c < counts.classes(); ++c)
    add({class_name(names, c), std::to_string(counts.samples(c)), std::to_string(counts.correct(c))}, counts.of(c));
  add({"(macro)", "", ""}, counts.macro());
  return message('\n', text_table(rows, 1));
}

std::string table_of_confusion(const ClassCounts& counts, const std::vector<std::string>& names) {
  TextRows rows = {{"true \\ predicted"}};
  for (std::int64_t c = 0; c < counts.classes(); ++c) rows[0].push_back(class_name(names, c));
  for (std::int64_t c = 0; c < counts.classes(); ++c) {
    rows.push_back({class_name(names, c)});
    for (std::int64_t p = 0; p < counts.classes(); ++p) rows.back().push_back(std::to_string(counts.taken_for(c, p)));
  }
  return message('\n', text_table(rows, 1));
}

std::string figure(const std::optional<double>& value, const char* format) {
  return value ? formatted(format, *value) : "-";
}

/// " rmse 53.2 r2 0.48" or " acc 0.9 auc 0.95".
std::string figures_of(const TargetScore& score, bool of_numbers) {
  return of_numbers ? message(" rmse ", figure(score.rmse, "%.6g"), " r2 ", figure(score.r2, "%.4f"))
                    : message(" acc ", figure(score.accuracy, "%.4f"), " auc ", figure(score.auc, "%.4f"));
}

bool has_numbers(const Scores& scores) { return scores.targets.front().rmse.has_value(); }

std::string table_by_target(const Scores& scores) {
  const bool of_numbers = has_numbers(scores);
  TextRows rows = {of_numbers ? std::vector<std::string>{"target", "rmse", "r2"}
                              : std::vector<std::string>{"target", "accuracy", "auc"}};
  for (const TargetScore& each : scores.targets)
    rows.push_back({each.name, of_numbers ? figure(each.rmse, "%.6g") : figure(each.accuracy, "%.4f"),
                    figure(of_numbers ? each.r2 : each.auc, "%.4f")});
  return message('\n', text_table(rows, 1));
}

void add_figures(ScoreJson& json, const TargetScore& score, bool of_numbers) {
  const auto add = [&](const char* key, const std::optional<double>& value) {
    json[key] = value ? ScoreJson(*value) : ScoreJson();
  };
  add(of_numbers ? "rmse" : "accuracy", of_numbers ? score.rmse : score.accuracy);
  add(of_numbers ? "r2" : "auc", of_numbers ? score.r2 : score.auc);
}

std::string json_of_targets(const Scores& scores) {
  ScoreJson json = {{"loss", scores.loss}, {"samples", scores.samples}};
  if (!scores.targets.empty()) {
    add_figures(json, mean_of(scores.targets), has_numbers(scores));
    json["targets"] = ScoreJson::array();
    for (const TargetScore& each : scores.targets) {
      json["targets"].push_back({{"target", each.name}});
      add_figures(json["targets"].back(), each, has_numbers(scores));
    }
  }
  return json.dump(-1, ' ', false, ScoreJson::error_handler_t::replace) + "\n";
}

std::string scores_text(const Scores& scores, const ClassCounts& counts, const std::vector<std::string>& names,
                        const ScoreParts& parts) {
  std::string text = "eval " + text_of(scores) + "\n";
  if (scores.targets.size() > 1) text += table_by_target(scores);
  if (parts.top)
    text += message("top ", counts.top(), " acc ", formatted("%.4f", share_of(counts.found(), scores.samples)),
                    " correct ", counts.found(), " samples ", scores.samples, "\n");
  if (parts.by_class) text += table_by_class(counts, names, parts.iou);
  if (parts.confusion) text += table_of_confusion(counts, names);
  return text;
}

ScoreJson with_scores(ScoreJson json, const ClassScores& scores, bool iou) {
  json["precision"] = scores.precision, json["recall"] = scores.recall, json["f1"] = scores.f1;
  if (iou) json["iou"] = scores.iou;
  return json;
}

ScoreJson json_by_class(const ClassCounts& counts, const std::vector<std::string>& names, bool iou) {
  ScoreJson all = ScoreJson::array();
  for (std::int64_t c = 0; c < counts.classes(); ++c)
    all.push_back(
        with_scores({{"class", class_name(names, c)}, {"samples", counts.samples(c)}, {"correct", counts.correct(c)}},
                    counts.of(c), iou));
  return all;
}

ScoreJson json_of_confusion(const ClassCounts& counts) {
  ScoreJson rows = ScoreJson::array();
  for (std::int64_t c = 0; c < counts.classes(); ++c) {
    rows.push_back(ScoreJson::array());
    for (std::int64_t p = 0; p < counts.classes(); ++p) rows.back().push_back(counts.taken_for(c, p));
  }
  return rows;
}

std::string scores_json(const Scores& scores, const ClassCounts& counts, const std::vector<std::string>& names,
                        const ScoreParts& parts) {
  if (!scores.of_labels) return json_of_targets(scores);
  ScoreJson json = {
      {"loss", scores.loss}, {"accuracy", scores.accuracy()}, {"correct", scores.correct}, {"samples", scores.samples}};
  if (scores.of_tokens) json["perplexity"] = scores.perplexity();
  if (parts.top)
    json["top"] = {
        {"k", counts.top()}, {"accuracy", share_of(counts.found(), scores.samples)}, {"correct", counts.found()}};
  if (parts.by_class || parts.confusion) {
    json["classes"] = json_by_class(counts, names, parts.iou);
    json["macro"] = with_scores(ScoreJson::object(), counts.macro(), parts.iou);
  }
  if (parts.confusion) json["confusion"] = json_of_confusion(counts);
  return json.dump(-1, ' ', false, ScoreJson::error_handler_t::replace) + "\n";
}

}  // namespace

std::string class_name(const std::vector<std::string>& names, std::int64_t label) {
  return label < std::ssize(names) ? names[static_cast<std::size_t>(label)] : std::to_string(label);
}

std::string text_of(const Scores& scores) {
  if (!scores.of_labels)
    return formatted("loss %.6g", scores.loss) +
           (scores.targets.empty() ? "" : figures_of(mean_of(scores.targets), has_numbers(scores))) +
           formatted(" samples %lld", static_cast<long long>(scores.samples));
  return formatted("loss %.6g acc %.4f correct %lld samples %lld", scores.loss, scores.accuracy(),
                   static_cast<long long>(scores.correct), static_cast<long long>(scores.samples)) +
         (scores.of_tokens ? formatted(" perplexity %.6g", scores.perplexity()) : "") +
         (scores.f1 ? formatted(" f1 %.4f", *scores.f1) : "") + (scores.iou ? formatted(" iou %.4f", *scores.iou) : "");
}

std::string scores_as(const std::string& form, const Scores& scores, const ClassCounts& counts,
                      const std::vector<std::string>& names, const ScoreParts& parts) {
  return form == "json" ? scores_json(scores, counts, names, parts) : scores_text(scores, counts, names, parts);
}

}  // namespace lethe
