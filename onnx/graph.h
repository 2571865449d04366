// The nodes of a model as a graph, to look for what several of them say together.
#pragma once
#include <cmath>
#include <map>
#include <set>

#include "onnx/constants.h"

namespace lethe::onnx {

class Graph {
 public:
  Graph(std::vector<ReadNode>& nodes, const Constants& constants);

  /// The node that makes a value, if it is of this type. Identities and casts between floats are passed over.
  const ReadNode* maker(const std::string& name, const std::string& type) const;
  /// The same name behind identities and casts between floats.
  const std::string& through(const std::string& name) const;
  /// A constant number.
  std::optional<double> number(const std::string& name) const { return constants_.number(through(name)); }
  bool is_number(const std::string& name, double expected) const;
  bool is_constant(const std::string& name) const { return constants_.contains(name); }
  const Constants& constants() const { return constants_; }
  /// The one node that reads a value; null for several.
  const ReadNode* only_reader(const std::string& name) const;
  /// The factors of a product of products, and of quotients by numbers: values, and the product of all numbers.
  struct Product {
    double number = 1;
    std::vector<std::string> values;
  };
  Product product(const std::string& name, int deepest = 4) const;
  /// What is added to a number, or multiplied with it: the value and the number.
  std::optional<std::pair<std::string, double>> with_number(const ReadNode& node) const;
  /// Whether both are the same value.
  bool same(const std::string& a, const std::string& b) const { return through(a) == through(b); }

 private:
  const std::vector<ReadNode>& nodes_;
  const Constants& constants_;
  std::map<std::string, const ReadNode*> makers_;
  std::map<std::string, std::vector<const ReadNode*>> readers_;
};

/// Nodes of which nothing that they make is read, nor an output, go.
void drop_unread(std::vector<ReadNode>& nodes, const std::vector<ValueInfo>& outputs);

}  // namespace lethe::onnx
