// The top level of a network file: its keys, its vars with what the command line sets, its training settings.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "models/expression.h"
#include "models/json_source.h"
#include "models/network.h"

namespace lethe {

class NetworkDocument {
 public:
  /// Checks the top-level keys of the file and that `overrides` and the variant name vars that it has.
  NetworkDocument(const NetworkFile& file, const Sets& overrides);

  JsonNode document() const { return source_.root(); }
  const Bindings& vars() const { return vars_; }
  std::string name() const;
  TrainDefaults train() const;

 private:
  void read_variant(const std::string& name, const JsonNode& values);
  /// What variant and command line say of vars.
  Bindings given_by(const Sets& overrides) const;
  void set_vars(const std::vector<std::pair<std::string, JsonNode>>& vars, const Bindings& given);

  JsonSource source_;
  std::string variant_;
  Bindings of_variant_ = {}, vars_ = {};
};

/// Fails at the name of a member that expressions and program text could not read.
void check_identifier(const JsonNode& member, const std::string& name);

}  // namespace lethe
