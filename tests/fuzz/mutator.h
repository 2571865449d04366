// Inputs for a fuzz target without libFuzzer: seeds with a few random changes each.
#pragma once
#include <string>

#include "framework/random.h"
#include "tests/fuzz/fuzz.h"

namespace lethe::fuzz {

class Mutator {
 public:
  /// The same seed gives the same inputs. `material` must outlive it and have a seed.
  Mutator(const Material& material, std::uint64_t seed);
  std::string next();

 private:
  using Change = void (Mutator::*)(std::string&);

  void flip_bit(std::string& text);
  void set_byte(std::string& text);
  void insert_bytes(std::string& text);
  void erase_block(std::string& text);
  void copy_block(std::string& text);
  void put_integer(std::string& text);
  void put_number(std::string& text);  // in decimal digits, in the place of such
  void put_word(std::string& text);

  std::size_t below(std::size_t bound) { return random_.below(static_cast<std::uint32_t>(bound)); }
  const std::string& any_seed() { return material_.seeds[below(material_.seeds.size())]; }

  const Material& material_;
  Random random_;
  std::size_t most_bytes_;
};

}  // namespace lethe::fuzz
