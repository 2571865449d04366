// Options that say which parameters are trained, and which stay as they are.
#include "train/option_groups.h"

namespace lethe {

void add_frozen(OptionSet& set, Options& o) {
  FrozenSetting& frozen = o.program.network.frozen;
  const auto read_into = [](std::string& names) {
    return [&names](const std::string& text) { names = text == "none" ? "" : text; };
  };
  set.in("Training");
  set.add_read("--freeze", read_into(frozen.freeze), "NAMES",
               "Leaves these parameters as they are: names, ours or a library's, with commas between, * for any\n"
               "characters, as 'tokens.*,block*'; none: trains all")
      ->is({Fact::Kept});
  set.add_read("--train-only", read_into(frozen.train_only), "NAMES", "Trains these parameters and leaves all others")
      ->is({Fact::Kept})
      ->excludes("--freeze");
  set.add_read(
         "--frozen-dtype", [&frozen](const std::string& name) { frozen.dtype = dtype_named(name); }, "TYPE",
         "Of frozen parameters of two axes or more: bf16 or f16 halve them, f32 (default: as all others)")
      ->check(one_of({"f32", "bf16", "f16"}))
      ->is({Fact::Kept});
}

}  // namespace lethe
