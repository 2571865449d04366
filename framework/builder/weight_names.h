// How others call a network's weights, and how theirs stand in files.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/language/program.h"

namespace lethe {

/// A parameter in files of others: one tensor, or several that have its rows one after the other. Rows of a head of
/// which rope turns one of the first half with its like of the second may stand interleaved, as llama.cpp has them: row
/// 2 i + h of a head in the file is its row h * size / 2 + i.
struct ForeignWeight {
  std::string param = {};                 // the var's name
  std::vector<std::string> tensors = {};  // at least one
  Shape shape = {};                       // of all rows in the file, where that is not the parameter's; else empty
  Ints rows = {};                         // of each tensor; empty for one
  bool transposed = false;                // a tensor's rows are columns of the parameter
  Ints interleaved = {};                  // heads of each tensor, 0 for none (below); empty for none of any
};

/// The names of one library.
struct WeightNames {
  std::string library = {};                   // "huggingface"
  std::string prefix = {};                    // which any of the names may have in a file, or lack there
  std::vector<ForeignWeight> weights;         // every weight of the network once
  std::vector<ForeignWeight> again;           // weights that a file may have a second time, under other names
  std::vector<std::string> lora = {};         // modules that have adapters by default (lora.h)
  std::vector<std::string> passed_over = {};  // patterns of names that a file may have and nobody reads
};

/// What the fields of a pattern stand for: {"i", "11"}.
using Fields = std::map<std::string, std::string>;

/// Reads `text` as `pattern`, whose fields ("h.{i}.bias") stand for whole numbers; none if it is another.
std::optional<Fields> read_fields(std::string_view pattern, std::string_view text);
/// The name without the prefix that it has, or with the one that it lacks.
std::string prefix_turned(const std::string& name, const std::string& prefix);
/// The pattern with its fields filled in; fails on one that has no value.
std::string with_fields(std::string_view pattern, const Fields& fields);

}  // namespace lethe
