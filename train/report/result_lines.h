// What `train predict` says of images and texts, one a line.
#pragma once
#include <string>
#include <vector>

#include "train/session/embedder.h"
#include "train/session/predictor.h"
#include "train/session/row_predictor.h"

namespace lethe {

/// As text, whose names fill `name_width` columns; or as JSON, {"file","predictions": [{"class","label",
/// "probability"}]}, {"file","embedding": [...]} and {"file","values": {name: number}}.
class ResultLines {
 public:
  /// `classes`: their names by label; one without a name has its number.
  ResultLines(bool as_json, std::size_t name_width, std::vector<std::string> classes);
  /// To standard output, all at once; fails if they cannot be written.
  void print(const std::vector<Prediction>& results) const;
  void print(const std::vector<Embedding>& results) const;
  /// Their values are called as the classes.
  void print(const std::vector<RowNumbers>& results) const;

 private:
  template <class Result>
  void print_each(const std::vector<Result>& results) const;
  std::string text_of(const Prediction& prediction) const;
  static std::string text_of(const Embedding& embedding);
  std::string text_of(const RowNumbers& row) const;

  bool as_json_;
  std::size_t name_width_, class_width_ = 0;
  std::vector<std::string> classes_;
};

}  // namespace lethe
