// Sentences of a small grammar: subject, verb, object, sometimes an adverb. The verb agrees with a subject that an
// adjective may stand far before, so that more than the last few characters tell what follows.
#include <array>
#include <string_view>

#include "framework/language/init.h"
#include "framework/random.h"
#include "train/data/labelled_texts.h"
#include "train/data/sequences.h"

namespace lethe {
namespace {

constexpr std::string_view kAlphabet = " .abcdefghijklmnopqrstuvwxyz";  // in the order of their values

/// A word for one and for many.
struct Word {
  std::string_view one, many;
};
constexpr std::array<Word, 6> kDeterminers{
    {{"the", "the"}, {"a", "two"}, {"this", "these"}, {"every", "many"}, {"one", "some"}, {"her", "their"}}};
constexpr std::array<Word, 10> kNouns{{{"cat", "cats"},
                                       {"dog", "dogs"},
                                       {"mouse", "mice"},
                                       {"child", "children"},
                                       {"teacher", "teachers"},
                                       {"farmer", "farmers"},
                                       {"fox", "foxes"},
                                       {"queen", "queens"},
                                       {"wolf", "wolves"},
                                       {"juggler", "jugglers"}}};
constexpr std::array<Word, 8> kVerbs{{{"sees", "see"},
                                      {"likes", "like"},
                                      {"follows", "follow"},
                                      {"hears", "hear"},
                                      {"helps", "help"},
                                      {"finds", "find"},
                                      {"has", "have"},
                                      {"knows", "know"}}};
constexpr std::array<std::string_view, 8> kAdjectives{"small", "old",    "quick", "brown",
                                                      "quiet", "clever", "lazy",  "young"};
constexpr std::array<std::string_view, 6> kAdverbs{"often", "never", "slowly", "today", "again", "gladly"};

template <class List>
const auto& any_of(const List& list, Random& random) {
  return list[random.below(static_cast<std::uint32_t>(list.size()))];
}

void add_word(std::string_view word, std::string& text) {
  if (!text.empty()) text.push_back(' ');
  text.append(word);
}

void add_things(bool many, Random& random, std::string& text) {
  const auto fitting = [many](const Word& word) { return many ? word.many : word.one; };
  add_word(fitting(any_of(kDeterminers, random)), text);
  if (random.below(2) == 1) add_word(any_of(kAdjectives, random), text);
  add_word(fitting(any_of(kNouns, random)), text);
}

/// Gives whether its subject is many.
bool add_sentence(Random& random, std::string& text) {
  const bool many = random.below(2) == 1;
  add_things(many, random, text);
  const Word& verb = any_of(kVerbs, random);
  add_word(many ? verb.many : verb.one, text);
  add_things(random.below(2) == 1, random, text);
  if (random.below(3) == 0) add_word(any_of(kAdverbs, random), text);
  text.push_back('.');
  return many;
}

class Sentences final : public Sequences {
 public:
  Sentences(SequenceInfo info, std::uint64_t seed) : Sequences(std::move(info)), seed_(seed) {}

  void read(Split split, std::int64_t index, std::int32_t* symbols, std::int32_t* labels) const override {
    Random random(seed_, hash_of("sentences") + static_cast<std::uint64_t>(split), static_cast<std::uint64_t>(index));
    std::string text;
    add_sentence(random, text);
    text.erase(0, random.below(static_cast<std::uint32_t>(text.size())));  // windows begin anywhere
    const auto length = static_cast<std::size_t>(info().length);
    while (text.size() <= length) add_sentence(random, text);
    for (std::size_t t = 0; t < length; ++t) {
      symbols[t] = static_cast<std::int32_t>(kAlphabet.find(text[t]));
      labels[t] = static_cast<std::int32_t>(kAlphabet.find(text[t + 1]));
    }
  }

 private:
  std::uint64_t seed_;
};

class Subjects final : public LabelledTexts {
 public:
  Subjects(TextsInfo info, std::uint64_t seed, const SampleCounts& counts)
      : LabelledTexts(std::move(info)), seed_(seed), counts_(counts) {}

  std::int64_t size(Split split) const override { return split == Split::Train ? counts_.training : counts_.test; }

  std::int32_t read(Split split, std::int64_t index, std::int32_t* symbols) const override {
    Random random(seed_, hash_of("subjects") + static_cast<std::uint64_t>(split), static_cast<std::uint64_t>(index));
    std::string text;
    const bool many = add_sentence(random, text);
    write_text(*info().vocabulary, text, info().length, symbols);  // of characters, so from several threads
    return many ? 1 : 0;
  }

 private:
  std::uint64_t seed_;
  SampleCounts counts_;
};

}  // namespace

std::unique_ptr<LabelledTexts> make_subjects(std::int64_t length, std::uint64_t seed, const SampleCounts& counts) {
  TextsInfo info{.name = "subjects",
                 .length = length,
                 .vocabulary = characters_of(std::string(kAlphabet)),
                 .classes = {"one", "many"}};
  return std::make_unique<Subjects>(std::move(info), seed, counts);
}

std::unique_ptr<Sequences> make_sentences(std::int64_t length, std::uint64_t seed, const SampleCounts& counts) {
  SequenceInfo info{.name = "sentences",
                    .length = length,
                    .alphabet = std::string(kAlphabet),
                    .sizes = {counts.training, counts.test}};
  return std::make_unique<Sentences>(std::move(info), seed);
}

}  // namespace lethe
