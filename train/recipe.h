// How to train: every option decided, and what the texts among them mean.
#pragma once
#include <string>

#include "framework/builder.h"
#include "models/network.h"
#include "optimizer/optimizer.h"
#include "train/data/augment.h"
#include "train/options.h"

namespace lethe {

/// The options with nothing left open that the command needs: from the command line, else from `resumed` (the values of
/// the run that goes on), else from the network file's train settings, else built-in. Settings that belong to an
/// optimizer do not outlive a change of the optimizer. Which data is built-in depends on the network: open_data().
Options decided(const Options& given, const OptionValues& resumed = {});
/// What a run that goes on must find again.
OptionValues values_to_keep(const Options& options);

Sets sets_of(const Options& options);
BuildOptions build_options(const Options& options, bool training);
OptimizerSettings optimizer_of(const Options& options);
/// "none", or of pad-crop, flip, cutout and random-crop any, with commas; pad-crop=4 and cutout=8 name their pixels.
Augmentation augmentation_of(const std::string& text);

}  // namespace lethe
