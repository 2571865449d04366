// Weights in files, in PyTorch's layout: convolutions OIHW, columns of fully connected layers that read an image
// in the order c, h, w. Names are those of the vars, or of a library that the network file knows. Files hold whole
// tensors, also where each of several ranks has a share of them: then all of them save, one into a file and the others,
// without a name, nowhere; or each its share (share_files.h), whose index then stands for the file where weights or
// states are read. Each reads by itself.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "framework/builder/builder.h"
#include "framework/run/store.h"
#include "train/session/elsewhere.h"
#include "train/session/reading.h"
#include "train/session/tensor_reader.h"
#include "train/session/weights_setting.h"

namespace lethe {

/// The name of a parameter or running statistic that holds NaN or infinity, on any of the ranks, which ask together; ""
/// if there is none.
std::string not_finite(const Store& store, const Network& network);

/// Writes the network's parameters and running statistics, under the names of a library if one is given, which the
/// network must have (Network::weight_names), and rounded to another float type if one is given, for which none may be
/// too large. Gives the file's CRC-32; 0 without a file.
std::uint32_t save_weights(const std::string& file, const Store& store, const Network& network,
                           const std::string& library = "", std::optional<DType> dtype = {});
/// The same with the weights of fully connected layers, but for the last one's, in nf4, nf4-dq or int8 as bitsandbytes
/// has them.
std::uint32_t save_weights_quantized(const std::string& file, const Store& store, const Network& network,
                                     const std::string& library, DType dtype);
/// The same of a checkpoint, without the weights that `but` names.
std::uint32_t save_weights_but(const std::set<std::string>& but, const std::string& file, const Store& store,
                               const Network& network);
/// The names of the weights that `patterns` of WeightsSetting::fresh mean. Fails as weights_named() does.
std::set<std::string> fresh_weights(const std::string& patterns, const Network& network);
/// Reads them, by the network's own names or those of a library, whichever the file has more of; floats are converted
/// to the network's dtype. Missing, unexpected and mis-shaped tensors are listed in one line (Exit::Data), and then the
/// store is as it was. A value that is NaN or infinite, or becomes so in that dtype, is Exit::Data by its tensor's
/// name, and then the tensors before it are in the store.
void load_weights(const std::string& file, Store& store, const Network& network);
/// The same of a checkpoint: weights `elsewhere` are not in it but are read from where they are, after the others and
/// as the run had them. Fails, and the store is as it was, if that is not as it was (check_as_read).
Loaded load_weights(const std::string& file, Store& store, const Network& network,
                    const std::vector<WeightsElsewhere>& elsewhere);
/// The same with what the setting allows, and without adapters where the file has none. What is made anew keeps the
/// values that the store has. Fails as well for a pattern that means nothing, and for one to ignore that means what the
/// network needs.
Loaded load_weights(const std::string& file, Store& store, const Network& network, const WeightsSetting& setting,
                    const std::vector<WeightsElsewhere>& elsewhere = {});
/// The same of tensors that are read otherwise.
Loaded load_weights(TensorReader& tensors, Store& store, const Network& network, const WeightsSetting& setting,
                    const std::vector<WeightsElsewhere>& elsewhere = {});
/// By name, the types that the file has parameters of two axes or more in: the network's, if they are several floats.
/// Fails (Exit::Data) for one in blocks that are no blocks of the whole.
std::map<std::string, std::string> stored_types(const std::string& file, const Network& network);
/// The file, and those of which it is the index.
std::vector<std::string> files_of_weights(const std::string& file);

/// The same for everything else in the store: momentum and the like (in the layout of their parameter), step counter.
/// Dtypes must be equal, and no value NaN; a sum of squares may be infinite. `frozen`: parameters that were so, by
/// name, whose states the file lacks; they stay as they are. States of those that are now are passed over.
std::uint32_t save_optimizer(const std::string& file, const Store& store, const Network& network);
void load_optimizer(const std::string& file, Store& store, const Network& network,
                    const std::vector<std::string>& frozen = {});

/// Writes all of that, without the weights that `but` names, into a directory as shares, each rank its own, together;
/// see share_files.h.
void save_shares_but(const std::set<std::string>& but, const std::string& directory, std::int64_t step,
                     const Store& store, const Network& network);

}  // namespace lethe
