// What of a network a data set is fed into, and which data set fits it.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "framework/builder/network.h"
#include "framework/run/executor.h"
#include "train/data/batches.h"
#include "train/data/dataset.h"
#include "train/data/fed_inputs.h"
#include "train/session/settings.h"

namespace lethe {

/// Fails unless the network has a loss and an input beside its labels, and the loss reads these as they are fed, or a
/// view.
FedInputs fed_inputs(const Network& network);
/// Whether a set of images, sequences or texts can feed it: one input beside its labels, which its loss reads as they
/// are fed, or a view; and the positions of several texts in a sample, if it takes them.
bool is_fed_by_data(const Network& network);
/// What such a set is fed into. Fails unless there is one.
FedInputs sample_and_labels(const Network& network);
/// Hands a batch to the next step.
void feed_next(Executor& executor, const FedInputs& fed, const Batches& batches, const Batch& batch);
/// Whether a sample is a sequence of symbols, each with a label; no for a network that such a set cannot feed.
bool takes_sequences(const Network& network);
/// Symbols of a sample where an input beside the labels is a sequence of them; else 0.
std::int64_t symbols_of_sample(const Network& network);
/// Whether it is a sequence of symbols with one label.
bool takes_texts(const Network& network);
/// How many numbers of a target are scored one by one, for which evaluation fetches what is predicted: those of a loss
/// that takes no labels and reads an input as it is fed, up to 256 of a sample; else 0.
std::int64_t scored_numbers(const Network& network);
/// How many of the first `count` labels count: those that the loss ignores do not.
std::int64_t counted(const Network& network, const std::int32_t* labels, std::int64_t count);
/// Fails with Exit::Data unless samples have what the network takes, as large as it takes it.
void check_fed(const Network& network, const Samples& samples);
/// The data set that is named, in the size the network takes and with as many classes as its loss tells apart. Without
/// a name: sentences for a network that says something of each symbol, subjects for one that does of a text,
/// shape-masks for one that takes a label for each pixel, shapes for any other. Labels, pixels and symbols mean what
/// `known` says of them: data is matched by names, and refused (Exit::Data) where it has others.
std::unique_ptr<Samples> open_data(const std::optional<std::string>& named, std::uint64_t seed, const Network& network,
                                   const Notify& notify = {}, const Meaning& known = {});
/// What a setting names. Fails with Exit::Data where tokens were made by another tokenizer than that of the setting;
/// notifies where that cannot be read.
std::unique_ptr<Samples> open_data(const DataSetting& setting, std::uint64_t seed, const Network& network,
                                   const Notify& notify, const Meaning& known);
/// Sets what texts to tune on, jsonl:FILE, ask of a network: that its loss ignores a label, and that a sample holds
/// several of them, unless the spec has one each.
void fit_to_data(NetworkSetting& network, const DataSetting& data);
/// If a sample is a sequence of symbols, it holds several texts from here on. Fails where these would see each other.
void take_several_texts(Network& network);
/// If data sets can feed it images, the network takes their bytes and normalises them by what is given, if it is.
void take_bytes(Network& network, const std::optional<PixelNorm>& pixels);

}  // namespace lethe
