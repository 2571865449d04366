// Which values of a network are images: known from inputs and from layers that state a shape, handed on by all others.
#include "framework/builder/builder.h"
#include "framework/language/op_def.h"

namespace lethe {
std::optional<Layout> Builder::common_layout(const Vars& vars, const std::string& type) const {
  std::optional<Layout> common;
  VarId first = kNone;  // that has it
  for (const VarId var : vars) {
    const auto found = network_.layouts.find(var);
    if (found == network_.layouts.end()) continue;
    if (!common) first = var;
    check(!common || *common == found->second, type, ": an image and a plain value, ", text_of(sample_shape(first)),
          " and ", text_of(sample_shape(var)), "; 'reshape' with \"layout\" makes one of the other");
    common = found->second;
  }
  return common;
}

Vars Builder::append(const std::string& type, Vars in, Attrs attrs, const std::string& name) {
  const Layout layout = common_layout(in, type).value_or(Layout::Plain);
  const Vars out = append_op(network_.program, block_, Role::Forward, type, std::move(in), std::move(attrs), name);
  for (const VarId var : out)
    if (shape(var).size() >= 4) network_.layouts.try_emplace(var, layout);
  return out;
}

void Builder::carry_layout(VarId from, VarId to, const std::string& path) {
  const auto found = network_.layouts.find(from);
  if (found == network_.layouts.end()) return;
  const Layout layout = found->second;
  check(network_.layouts.try_emplace(to, layout).first->second == layout, path, ": an image and a plain value, ",
        text_of(sample_shape(from)), " and ", text_of(sample_shape(to)), ", where one becomes the other");
}

}  // namespace lethe
