// What a command takes from the run beside its --weights.
#pragma once
#include <optional>
#include <string>

#include "framework/error.h"
#include "train/data/dataset.h"
#include "train/options.h"
#include "train/session/start.h"

namespace lethe {

/// Decided for a command that takes weights: what the command line leaves open of network, data, numbers, batch and
/// seed is that of the run, whose network is the one that it holds. Fails unless one of the two names a network, and
/// for another network than the run trained.
Options decided_by_run(const Options& given, const std::optional<SavedRun>& run);
/// The data of a training that may begin from weights: symbols have to mean what they meant to the run that made these;
/// pixels what they meant to the folder that the model is of, and labels too, unless some weights are made anew. Fails
/// for a network that reads text where nothing says what its symbols meant, and for other adapters than those of the
/// run, unless some weights are made anew or ignored.
DataSetting data_beside_weights(const Options& options, const Notify& notify);
/// Fails unless the options or the run say what labels and symbols mean.
void check_data_known(const Options& options, const std::optional<SavedRun>& run);
/// What the run's labels, pixels and symbols mean; nothing without a run.
Meaning meaning_of(const std::optional<SavedRun>& run);
/// What labels, pixels and symbols of the data mean to the weights: those of the run, or of the folder that the model
/// is of. Where the data has none of the folder's names of classes they are left out, and a line says that the order of
/// labels counts.
Meaning meaning_to_weights(const Options& options, const std::optional<SavedRun>& run, const Network& network,
                           const Notify& notify);
/// The data as such that says what samples and labels mean. Fails with Exit::Data for other, as arrays are.
template <class Data>
const Data& data_that_says(const Samples& data) {
  const auto* const found = dynamic_cast<const Data*>(&data);
  check_as(Exit::Data, found != nullptr, data.name(),
           ": does not say what the network's numbers mean; name other data");
  return *found;
}
/// A line on what lets these options compute otherwise than the run did, if anything does.
void note_other_numbers(const Options& options, const std::optional<SavedRun>& run, const Notify& notify);

}  // namespace lethe
