// Layers as people read them: a table of those of a network, and a list of those that network files may name.
#pragma once
#include <string>
#include <vector>

#include "framework/builder/builder.h"

namespace lethe {

/// One forward op, for one batch.
struct LayerRow {
  std::string path, type;       // "stage1/0/conv1", "conv"
  std::string output;           // "[16,32,32]" without the batch; images in the order of network files
  std::int64_t parameters = 0;  // those no row above has counted
  std::int64_t frozen = 0;      // of these
  std::int64_t mult_adds = 0;   // of convolutions and products, in a loop of all trips; of other layers not counted
};

std::vector<LayerRow> layer_rows(const Network& network);
/// Rows and totals: parameters, how many of them are trained if some are frozen, multiply-adds, MiB of input, of what
/// the layers write, of parameters.
std::string layer_table(const Network& network);
/// The layer that a var belongs to: "stage1/0/conv1" of "stage1/0/conv1.y" and of its gradients "stage1/0/conv1.y@GRAD"
/// and "stage1/0/conv1.y@GRAD.2".
std::string layer_of(const std::string& var);

/// Says what a layer is called, takes and does, and each of its keys with values, default, bounds and meaning; says it
/// of all layers for an empty name. Fails with a suggestion for a name that no layer has.
std::string layer_list(const std::string& name);
/// The names of all layers, without their other names.
std::vector<std::string> layer_names();

}  // namespace lethe
