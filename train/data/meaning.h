// What the numbers of samples stand for. A run keeps that, and matches by it what it reads later.
#pragma once
#include <string>
#include <vector>

namespace lethe {

struct Meaning {
  std::vector<std::string> classes = {};          // the names of labels, from 0 on; none: they stand for nothing
  std::vector<double> mean = {}, deviation = {};  // of images: what normalises them, by channel
  std::string alphabet = {};                      // of text in bytes: the byte that each symbol stands for
  std::string tokenizer = {};                     // of tokens: whose they are (Vocabulary::identity)
  bool operator==(const Meaning&) const = default;
};

/// Fails with Exit::Data unless what `found` says is as `known` has it, as far as that says anything; `data` is the
/// name of what was found. Normalisation is left out, since it can be taken from `known`.
void check_means(const Meaning& known, const Meaning& found, const std::string& data);

}  // namespace lethe
