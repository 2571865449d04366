// --frozen-dtype stored: frozen weights in the types that the file of --weights has them in.
#pragma once
#include "train/options.h"

namespace lethe {

/// The values with the types themselves in the place of the word, by name: so a run keeps them. Fails without a file of
/// weights, and for a weight that the file has as several tensors whose blocks make no whole. Where a run goes on it
/// has them, and the word goes.
OptionValues with_stored_types(OptionValues values);

}  // namespace lethe
