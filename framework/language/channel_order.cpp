#include "framework/language/channel_order.h"

#include "framework/error.h"
#include "framework/language/text.h"

namespace lethe {

std::string channel_order_hint(const Shape& stated) {
  constexpr std::int64_t kMostChannels = 4;  // of an image file
  if (stated.size() != 3 || stated[2] > kMostChannels || stated[0] <= kMostChannels || stated[1] <= kMostChannels)
    return "";
  return message("; shapes are [C,H,W]: is ", text_of(Shape{stated[2], stated[0], stated[1]}), " meant?");
}

}  // namespace lethe
