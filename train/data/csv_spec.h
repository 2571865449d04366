// What `--data csv:...` says.
#pragma once
#include <string>
#include <vector>

#include "train/data/data_spec.h"

namespace lethe {

/// A table in comma-separated values.
struct CsvSpec {
  std::string file = {}, test = {};                                   // "": no other file is for tests
  std::vector<std::string> targets = {}, drop = {}, categories = {};  // names of columns
  double val = 0;  // the share that is held out (train/data/samples.h)
};

/// "FILE,target=A|B,drop=C|D,categories=E|F,val=X,test=FILE". Fails with Exit::Usage on what is wrong in it.
CsvSpec csv_spec(const DataSpec& spec);

}  // namespace lethe
