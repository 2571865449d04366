// Where in a sample the numbers of a table's row go.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "framework/builder/network.h"
#include "train/data/fed_inputs.h"
#include "train/data/samples.h"

namespace lethe {

class TablePlaces {
 public:
  /// The numbers of a row are those of the columns and then those of the targets (encode() in
  /// train/data/table_cells.h), of which there are none where the network takes labels or predicts. Fails with
  /// Exit::Data where the network has no place for a column, the table none for an input, or another number of targets;
  /// `data` is for messages.
  TablePlaces(std::string data, const Network& network, const FedInputs& fed, const std::vector<TableColumn>& columns,
              std::size_t targets);
  /// Fails with Exit::Data on a number that the input's dtype has not.
  void write(const double* numbers, std::byte* sample) const;

 private:
  struct Place {
    std::int64_t offset = 0;  // bytes into the sample
    DType dtype = DType::f32;
    std::size_t number = 0;
    std::int64_t category = 0;  // not 0: 1 where the number is this one, else 0
  };
  void add_vector(const Var& var, std::int64_t offset, const std::vector<std::size_t>& numbers,
                  const std::vector<TableColumn>& columns);
  void add_column(const Var& var, std::int64_t offset, std::size_t number, const TableColumn& column);
  void add_targets(const Var& var, std::int64_t offset, std::size_t first, std::size_t targets);

  std::string data_, network_;
  std::vector<Place> places_ = {};
};

}  // namespace lethe
