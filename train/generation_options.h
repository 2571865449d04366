// What the command line says of text that is generated.
#pragma once
#include <cstdint>
#include <string>

#include "train/session/sampling.h"

namespace lethe {

struct GenerationOptions {
  std::string prompt = {};
  std::int64_t tokens = 200;  // symbols that follow it
  Sampling sampling = {};
  std::string tokenizer = {};  // a folder of GPT-2's files; "": by the data
  bool plan = false;           // says what it takes, and stops
  std::string stop = {};       // the text ends before this one; "": it does not
  bool ignores_end = false;    // goes on after the end of a document
  bool no_cache = false;       // runs the network over the whole window for each symbol
};

}  // namespace lethe
