// What `--data` says: a word, and after a colon what belongs to it.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lethe {

/// How many samples the training and the test split have.
struct SampleCounts {
  std::int64_t training = 0, test = 0;
};

struct FolderOptions {
  std::int64_t resize = 0;                // what an image's shorter side becomes; 0: what just covers the network's
  std::int64_t max_pixels = 100'000'000;  // a file with more is refused before it is decoded
  std::int64_t skip_bad = 0;              // so many files that cannot be read are left out; more are an error
  double val = 0;                         // the share that is held out (train/data/samples.h)
};

/// A folder of images.
struct FolderSpec {
  std::string directory = {};
  FolderOptions options = {};
};

/// A folder of tokens.
struct TokensSpec {
  std::string directory = {};
  bool ignore_borders = false;  // what follows a document's end token is no label
};

/// A text; or tables of labels and texts, in a file or a folder of files.
struct TextSpec {
  std::string path = {};
  std::string tokenizer = {};  // a folder (train/data/folder_tokenizer.h); "": symbols are bytes
  double val = 0;              // the share that is held out (train/data/samples.h)
};

/// A spec in three: "mnist:data/mnist,val=0.2" is kind "mnist", argument "data/mnist", and an option, as those of its
/// kind stand after the last commas. The place of a tokenizer may have commas, too. What is wrong in it fails with
/// Exit::Usage.
struct DataSpec {
  explicit DataSpec(const std::string& text);
  [[noreturn]] void reject(const std::string& reason) const;
  /// Fails for a kind that gives no images with a label each, none with a label for each pixel, no sequences, no
  /// texts with a label each, or no numbers by name.
  [[noreturn]] void reject_for_images() const;
  [[noreturn]] void reject_for_masks() const;
  [[noreturn]] void reject_for_sequences() const;
  [[noreturn]] void reject_for_texts() const;
  [[noreturn]] void reject_for_names() const;
  /// The argument; `what` ("DIR") stands for it in the message that it is missing.
  const std::string& place(const std::string& what) const;
  /// "DIR,resize=N,max-pixels=N,skip-bad=N,val=X".
  FolderSpec folder() const;
  /// "DIR,ignore-borders".
  TokensSpec tokens() const;
  /// "FILE,tokenizer=DIR,val=X"; of jsonl also "no-pack".
  TextSpec text_file() const;
  /// Whether it fills a sample with several texts, if the network takes them.
  bool packs() const;
  /// "PATH,tokenizer=DIR,val=X".
  TextSpec tables() const;
  /// "NAME=FILE,...".
  std::vector<std::pair<std::string, std::string>> named_files() const;
  /// "tokenizer=DIR"; "" without it.
  std::string tokenizer() const;
  /// Whether an option without a value stands there.
  bool has_word(const char* word) const;
  /// "val=X", above 0 and below 1; 0 without it.
  double held_share() const;
  /// A number from 1 to 2^31 - 1.
  std::int64_t count(std::string_view digits) const;
  /// The argument as a number; `absent` without one.
  std::int64_t count_or(std::int64_t absent) const;
  /// The text with the places of files as they are found from anywhere.
  std::string absolute() const;
  /// "train=N,test=M", each of which may be missing.
  SampleCounts counts(SampleCounts absent) const;

  std::string text, kind, argument;
  std::map<std::string, std::string> options;  // by name; of a word without '=' the value is ""
};

/// Whether it is of texts and names no tokenizer, so that their symbols are characters.
bool wants_tokenizer(const DataSpec& spec);
/// The spec of texts with the tokenizer of a folder, unless it names one; that of other data as it is.
std::string with_tokenizer(const std::string& spec, const std::string& directory);

/// The spec of a folder of images with "skip-bad=N" as its last option. Fails (Exit::Usage) for other data.
std::string with_skip_bad(const std::string& spec, std::int64_t count);

}  // namespace lethe
