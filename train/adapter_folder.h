// A folder as Hugging Face's PEFT has it (train/session/adapter_files.h), after --adapter and --weights.
#pragma once
#include "train/option_set.h"
#include "train/options.h"

namespace lethe {

/// The values with `--weights DIR` of such a folder as what it stands for: `--adapter DIR`, and, where no model is
/// named, the folder of the base that its config names. Fails (Exit::Data) if nothing says the base.
OptionValues with_base_of_adapter(const OptionSet& set, OptionValues values, Options& options);

/// The values with what the folder of `--adapter` says of its adapters, as `--lora`, `--lora-targets` and
/// `--lora-train`; `--lora` without words means those. Fails where these say something else, where the run of
/// `--weights` has adapters of its own, and (Exit::Data) for adapters that are not known here, or of another network.
OptionValues with_adapter(const OptionSet& set, OptionValues values, const Options& options);

}  // namespace lethe
