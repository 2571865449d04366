// Tokens that are found in a text before all else, such as <|im_start|>.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lethe {

struct AddedToken {
  std::string text = {};
  std::int32_t number = 0;
  bool takes_left = false, takes_right = false;  // the white space beside it
};

class AddedTokens {
 public:
  explicit AddedTokens(std::vector<AddedToken> tokens);
  struct Found {
    std::size_t begin = 0, end = 0;  // with the white space that it takes
    std::int32_t number = 0;
  };
  /// The first one, of several the longest, that begins from `from` on, where one ended or the text begins, but before
  /// `to`; it may end after that.
  std::optional<Found> first_in(std::string_view text, std::size_t from, std::size_t to) const;

 private:
  std::vector<AddedToken> tokens_;  // the longest first
  std::array<bool, 256> begins_{};  // bytes that one of them begins with
};

}  // namespace lethe
