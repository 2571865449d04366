// What convolutions read from an op's attributes.
#pragma once
#include "framework/error.h"
#include "framework/program.h"
#include "kernels/conv.h"

namespace lethe {

/// A {height, width} of at least `least`; `absent` twice without the attribute. `what` names the op in the message.
inline Extent extent_of(const char* what, const Attrs& attrs, const std::string& key, std::int64_t absent,
                        std::int64_t least) {
  const Ints values = attrs.ints(key, {absent, absent});
  check(values.size() == 2, what, ": ", key, " is ", text_of(Attr(values)), ", expected height and width");
  check(values[0] >= least && values[1] >= least, what, ": ", key, " is ", text_of(Attr(values)),
        ", expected at least ", least);
  return {values[0], values[1]};
}

}  // namespace lethe
