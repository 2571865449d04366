// Tables of numbers and categories, each row a sample, for the inputs of a network by name or as one vector.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "train/data/data_spec.h"
#include "train/data/dataset.h"
#include "train/data/named_samples.h"

namespace lethe {

/// Opens csv:FILE,target=A|B[,drop=C|D][,categories=E|F][,val=X][,test=FILE]. The rows of the other file are for tests,
/// or a share of the rows, a tenth unless `val` says another. What columns mean is found in the rows for training
/// (train/data/table_cells.h), or said by `known`.
///   - An input that is called as a column takes that: floats its number, i32 the number of its category.
///   - One other input, a vector of floats, takes all other columns in their order: of numbers each its number, of
///     categories a 1 among zeros for each category.
///   - Targets of mse, l1 and huber are standardised, those of bce are 0 to 1, those of a loss with labels are classes.
/// Fails with Exit::Usage on names that are no columns, with Exit::Data, naming the line, on cells that cannot be read,
/// and on columns that the network has no place for.
std::unique_ptr<NamedSamples> open_table(const DataSpec& spec, const Network& network, const FedInputs& fed,
                                         const Notify& notify, const Meaning& known);

/// Rows without a target, all of them for tests, and where each stands: "people.csv:2".
struct TableRows {
  std::unique_ptr<NamedSamples> samples = {};
  std::vector<std::string> places = {};
};
/// Those of a file, by what `known` says of its columns.
TableRows open_rows(const std::string& file, const Network& network, const FedInputs& fed, const Notify& notify,
                    const Meaning& known);

}  // namespace lethe
