// A folder as Hugging Face has them, a model's config.json and its weights, or a GGUF file, which has both. After
// --model and --weights "hf:DIR", "gguf:FILE".
#pragma once
#include "train/option_set.h"
#include "train/options.h"

namespace lethe {

/// What the values say of the option; "" if nothing.
std::string value_in(const OptionValues& values, const std::string& name);

/// The values with what a folder stands for: `--model hf:DIR` for a network of the zoo, for vars, below those of
/// `--set`, and for the folder's weights and tokenizer, where the command takes such and none are named; `--weights
/// hf:DIR` for the file there, and for `--model hf:DIR` where no model is named; `--weights none` for no weights.
/// `gguf:FILE` stands for all of that in one file.
/// Whatever is read, kept and resumed later knows of no folder but the tokenizer's; only `notes`, `most_context` and
/// `of_folder` of the options are set by it. Fails if there is no such folder, for a config.json that no network
/// honours, and where weights are needed and there are none, or where these would read other tokens than they learned
/// with (Exit::Data).
OptionValues with_folder(const OptionSet& set, OptionValues values, Options& options);

}  // namespace lethe
