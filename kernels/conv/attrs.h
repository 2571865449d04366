// What convolutions read from an op's attributes.
#pragma once
#include "framework/error.h"
#include "framework/language/program.h"
#include "kernels/conv/conv.h"

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

/// Fails unless a weight has the four axes that `expected` tells, of one element at least.
inline void check_weight(const char* what, const Shape& weight, const char* expected) {
  check(weight.size() == 4, what, ": weight is ", text_of(weight), ", expected ", expected);
  for (const std::int64_t size : weight)
    check(size > 0, what, ": weight is ", text_of(weight), ", sizes must be positive");
}

/// Kernels may write out what they see of an image from each of its places: fails if that is too much.
inline void check_windows(const char* what, const ConvShape& s) {
  with_context(message(what, ": the windows of an image"), [&] {
    return elements({s.out[0], s.out[1], s.kernel[0], s.kernel[1], s.channels / s.groups});
  });
}

}  // namespace lethe
