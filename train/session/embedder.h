// Embeddings of texts: the mean of what becomes of a text's tokens, of length 1.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "train/session/named_batch.h"
#include "train/session/programs.h"

namespace lethe {

struct Embedding {
  std::string name = {};
  std::vector<double> values = {};
};

/// What sentence-transformers' files beside the weights (a file or a folder) say of embeddings: fails (Exit::Data) for
/// another pooling than the mean over tokens. Gives how many tokens of a text are read there at most; 0: it is not
/// said.
std::int64_t tokens_pooled(const std::string& weights);

class Embedder {
 public:
  /// All must outlive it. `network` is embedding_of() one that was made for evaluation, and `planned` of it. Fails
  /// unless it reads tokens, i32 [N, T], and has a row for each, [N, T, C].
  Embedder(const Network& network, const Planned& planned, Prepared& prepared, Store& store);
  /// Has `write` write the next row of the batch, which stays free if that fails.
  void add(const std::string& name, const std::function<void(std::byte* sample)>& write) { batch_.add(name, write); }
  bool is_full() const { return batch_.is_full(); }
  /// Of the texts added since the last run. Tokens 0 are padding and do not count. Fails with Exit::Numeric if the
  /// network gives no numbers.
  std::vector<Embedding> run();

 private:
  const Network& network_;
  NamedBatch batch_;
  Executor executor_;
};

}  // namespace lethe
