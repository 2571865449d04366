#include "train/report/result_lines.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "framework/error.h"
#include "framework/formatted.h"
#include "train/report/score_report.h"
#include "train/report/streams.h"

namespace lethe {
namespace {

using ResultJson = nlohmann::ordered_json;

std::string filled(std::string text, std::size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

ResultJson json_of(const Embedding& embedding, const std::vector<std::string>&) {
  return {{"file", embedding.name}, {"embedding", embedding.values}};
}

ResultJson json_of(const Prediction& prediction, const std::vector<std::string>& classes) {
  ResultJson guesses = ResultJson::array();
  for (const Guess& guess : prediction.guesses)
    guesses.push_back(
        {{"class", class_name(classes, guess.label)}, {"label", guess.label}, {"probability", guess.probability}});
  return {{"file", prediction.name}, {"predictions", std::move(guesses)}};
}

ResultJson json_of(const RowNumbers& row, const std::vector<std::string>& names) {
  ResultJson values = ResultJson::object();
  for (std::size_t i = 0; i < row.values.size(); ++i)
    values[class_name(names, static_cast<std::int64_t>(i))] = row.values[i];
  return {{"file", row.name}, {"values", std::move(values)}};
}

}  // namespace

ResultLines::ResultLines(bool as_json, std::size_t name_width, std::vector<std::string> classes)
    : as_json_(as_json), name_width_(name_width), classes_(std::move(classes)) {
  for (const std::string& name : classes_) class_width_ = std::max(class_width_, name.size());
}

std::string ResultLines::text_of(const Prediction& prediction) const {
  std::string line;
  for (const Guess& guess : prediction.guesses)
    line.append("  ")
        .append(filled(in_one_line(class_name(classes_, guess.label)), class_width_))
        .append(formatted(" %.4f", guess.probability));
  return line;
}

std::string ResultLines::text_of(const Embedding& embedding) {
  std::string line;
  for (const double value : embedding.values) line.append(formatted(" %.9g", value));
  return line;
}

std::string ResultLines::text_of(const RowNumbers& row) const {
  std::string line;
  for (std::size_t i = 0; i < row.values.size(); ++i)
    line.append("  ")
        .append(in_one_line(class_name(classes_, static_cast<std::int64_t>(i))))
        .append(formatted(" %.9g", row.values[i]));
  return line;
}

template <class Result>
void ResultLines::print_each(const std::vector<Result>& results) const {
  int error = 0;
  for (const Result& result : results) {
    const std::string line = as_json_
                                 ? json_of(result, classes_).dump(-1, ' ', false, ResultJson::error_handler_t::replace)
                                 : filled(in_one_line(result.name), name_width_) + text_of(result);
    if (std::puts(line.c_str()) == EOF) error = errno;
  }
  finish_output(error);
}

void ResultLines::print(const std::vector<Prediction>& results) const { print_each(results); }
void ResultLines::print(const std::vector<Embedding>& results) const { print_each(results); }
void ResultLines::print(const std::vector<RowNumbers>& results) const { print_each(results); }

}  // namespace lethe
