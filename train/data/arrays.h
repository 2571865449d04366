// Arrays in files of NumPy's, for any inputs of a network by name.
#pragma once
#include <memory>

#include "train/data/data_spec.h"
#include "train/data/named_samples.h"

namespace lethe {

/// Opens npy:NAME=FILE,...[,val=X], an array for each input of the network, whose rows are samples in the shape that a
/// network file states: images as [C, H, W]. Arrays test.NAME=FILE, for each input one, are for tests; without them
/// a share of the rows is, a tenth unless `val` says another. Numbers are fed as they are. Fails with Exit::Usage on a
/// name that is no input, and on one that is missing; with Exit::Data on files that cannot be read, of another shape,
/// or of different numbers of rows. Readers fail with Exit::Data on a number that the input's dtype has not, on a label
/// that is no class, and on what bce compares with beyond 0 to 1.
std::unique_ptr<Samples> open_arrays(const DataSpec& spec, const Network& network, const FedInputs& fed);

}  // namespace lethe
