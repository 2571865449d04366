// Which keys stand where in a network file, as tables: the reader checks by them and the schema is made from them.
#pragma once
#include <string>
#include <vector>

#include "models/json_source.h"

namespace lethe {

/// Characters of a name. A path has that of each block around it.
inline constexpr std::size_t kLongestName = 100;

struct KeyFact {
  std::string name;
  bool required = false;
  std::string type = {};  // what its value is: a definition of the schema
};

std::vector<std::string> names_of(const std::vector<KeyFact>& keys);
/// Fails unless the node is an object with all that is required and no unknown key; `what` is "a loss".
void check_object(const JsonNode& node, const std::string& what, const std::vector<KeyFact>& keys);

const std::vector<KeyFact>& document_keys();  // of the file
const std::vector<KeyFact>& input_keys();
const std::vector<KeyFact>& block_keys();
const std::vector<KeyFact>& loss_keys();
std::vector<KeyFact> layer_loss_keys();            // of one that is a layer, beside the layer's own
const std::vector<KeyFact>& train_keys();          // options of the command line
const std::vector<KeyFact>& weight_names_keys();   // of the names of one library
const std::vector<KeyFact>& weight_keys();         // of a tensor among them
const std::vector<KeyFact>& config_family_keys();  // of what it says of one kind of config.json
const std::vector<KeyFact>& config_entry_keys();   // of a key of that
const std::vector<KeyFact>& while_keys();          // of what stands after "while"
const std::vector<KeyFact>& do_keys();             // and after its "do"

/// What an entry in a list of layers may be.
enum class EntryKind { Op, Block, Repeat, Branches, If, While };

struct EntryFact {
  EntryKind kind;
  std::string what;           // the key that tells the kind
  std::vector<KeyFact> keys;  // an op has its layer's keys besides
};
const std::vector<EntryFact>& entry_facts();
const std::vector<KeyFact>& op_keys();

/// A way to join branches and the layer that does it; "none" has none.
struct Join {
  std::string name, layer;
};
const std::vector<Join>& joins();

/// What "memopt" may say of an op, and of a loop.
const std::vector<std::string>& op_memopts();
const std::vector<std::string>& loop_memopts();

const std::vector<std::string>& input_dtypes();  // those that ops compute on

}  // namespace lethe
