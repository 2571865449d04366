#include "train/data/sentencepiece_file.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>

#include "framework/error.h"
#include "framework/formatted.h"
#include "train/data/checksum.h"
#include "train/data/data_files.h"
#include "train/data/unicode.h"

namespace lethe {
namespace {

/// A field of a message in protobuf's wire format.
struct WireField {
  std::uint64_t number = 0, value = 0;  // the value if it is a number
  std::string_view bytes = {};          // or what it holds
};

/// Reads the fields of a message one after the other.
class WireReader {
 public:
  explicit WireReader(std::string_view rest) : rest_(rest) {}
  bool next(WireField& field) {
    if (rest_.empty()) return false;
    const std::uint64_t key = varint();
    field = {.number = key >> 3};
    switch (key & 7) {
      case 0:
        field.value = varint();
        return true;
      case 1:
        take(8);
        return true;
      case 2:
        field.bytes = take(varint());
        return true;
      case 5:
        std::memcpy(&field.value, take(4).data(), 4);
        return true;
      default:
        fail_as(Exit::Data, "is no file of sentencepiece, or damaged");
    }
  }

 private:
  std::string_view take(std::uint64_t bytes) {
    check_as(Exit::Data, bytes <= rest_.size(), "ends within a field, so it was cut or is no file of sentencepiece");
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    fail_as(Exit::Data, "has a number of more than 64 bits, so it is damaged or no file of sentencepiece");
  }

  std::string_view rest_;
};

/// Calls `take` for each field of a message.
void for_fields(std::string_view text, const std::function<void(const WireField&)>& take) {
  WireReader reader(text);
  for (WireField field; reader.next(field);) take(field);
}

// Types of pieces and the model, as sentencepiece_model.proto numbers them.
enum PieceType : std::uint64_t { kNormalPiece = 1, kUnknownPiece = 2, kControlPiece = 3, kBytePiece = 6 };
constexpr std::uint64_t kPairModel = 2;

struct Piece {
  std::string text = {};
  float score = 0;
  std::uint64_t type = kNormalPiece;
};

struct PieceModel {
  std::vector<Piece> pieces = {};
  std::uint64_t model = 1, bytes = 0, suffix = 0;  // that of no field is unigram
  std::int32_t unknown = 0, begin = 1, end = 2;
  bool blank_before = true, drops_blanks = true, marks_blanks = true, changes = false;
};

Piece read_piece(std::string_view text) {
  Piece piece;
  for_fields(text, [&](const WireField& field) {
    if (field.number == 1) piece.text = field.bytes;
    if (field.number == 2) piece.score = std::bit_cast<float>(static_cast<std::uint32_t>(field.value));
    if (field.number == 3) piece.type = field.value;
  });
  check_as(Exit::Data, std::isfinite(piece.score), "piece ", quote(piece.text), " has no number as its score");
  return piece;
}

PieceModel read_piece_model(std::string_view text) {
  PieceModel read;
  const auto number = [](const WireField& field) { return static_cast<std::int32_t>(field.value); };
  for_fields(text, [&](const WireField& part) {
    if (part.number == 1) read.pieces.push_back(read_piece(part.bytes));
    if (part.number == 2)
      for_fields(part.bytes, [&](const WireField& field) {
        if (field.number == 3) read.model = field.value;
        if (field.number == 24) read.suffix = field.value;
        if (field.number == 35) read.bytes = field.value;
        if (field.number == 40) read.unknown = number(field);
        if (field.number == 41) read.begin = number(field);
        if (field.number == 42) read.end = number(field);
      });
    if (part.number == 3)
      for_fields(part.bytes, [&](const WireField& field) {
        if (field.number == 2) read.changes |= !field.bytes.empty();
        if (field.number == 3) read.blank_before = field.value != 0;
        if (field.number == 4) read.drops_blanks = field.value != 0;
        if (field.number == 5) read.marks_blanks = field.value != 0;
      });
  });
  return read;
}

void check_known(const PieceModel& model) {
  constexpr const char* kModels[] = {"none", "unigram", "BPE", "word", "char"};
  check_as(Exit::Data, model.model == kPairModel, "model_type is ", model.model < 5 ? kModels[model.model] : "unknown",
           ", which is not read (known: BPE)");
  check_as(Exit::Data, !model.changes, "normalizer_spec changes characters, which is not read (known: identity)");
  check_as(Exit::Data, !model.drops_blanks, "remove_extra_whitespaces is true, which is not read (known: false)");
  check_as(Exit::Data, model.marks_blanks, "escape_whitespaces is false, which is not read (known: true)");
  check_as(Exit::Data, model.suffix == 0, "treat_whitespace_as_suffix is true, which is not read (known: false)");
  for (const Piece& piece : model.pieces)
    check_as(Exit::Data, piece.type <= kControlPiece || piece.type == kBytePiece, "piece ", quote(piece.text),
             " is of type ", piece.type == 4 ? "USER_DEFINED" : "UNUSED",
             ", which is not read (known: NORMAL, UNKNOWN, CONTROL, BYTE)");
}

/// Two pieces side by side are merged if they make up a third, that of the highest score first. All ways to make up a
/// piece come at once.
PairMerges merges_of_pieces(const PieceModel& model, const TokenNumbers& normal) {
  std::map<float, std::int32_t, std::greater<>> ranks;
  for (const auto& [text, number] : normal) ranks.emplace(model.pieces[static_cast<std::size_t>(number)].score, 0);
  std::int32_t next = 0;
  for (auto& [score, rank] : ranks) rank = next++;
  PairMerges merges;
  for (std::size_t number = 0; number < model.pieces.size(); ++number) {
    const auto& [text, score, type] = model.pieces[number];
    if (type != kNormalPiece) continue;
    for (std::size_t at = 0; at < text.size();) {
      at += character_at(text, at).bytes;
      const auto left = normal.find(std::string_view(text).substr(0, at));
      const auto right = normal.find(std::string_view(text).substr(at));
      if (left == normal.end() || right == normal.end()) continue;
      merges.add(left->second, right->second, static_cast<std::int32_t>(number), ranks.at(score));
    }
  }
  return merges;
}

SentencePieces made_of(const PieceModel& model) {
  check_known(model);
  check_as(Exit::Data, !model.pieces.empty() && model.pieces.size() < INT32_MAX, "has no pieces");
  SentencePieces made;
  TokenRules& rules = made.rules;
  TokenNumbers normal;
  UnknownCharacters unknown{.is_one = true};
  TokensOfBytes bytes{};
  int byte_count = 0;
  bool begins = true;  // whether blanks stand at the front of pieces alone
  for (const Piece& piece : model.pieces) {
    const auto number = static_cast<std::int32_t>(rules.texts.size());
    rules.texts.push_back(text_of_piece(piece.text));
    rules.checksum = checksum_of(message(piece.type, ' ', piece.score, '\n'), rules.checksum);
    if (piece.type == kUnknownPiece) unknown.token = number;
    if (piece.type == kBytePiece && rules.texts.back().size() == 1 && ++byte_count > 0)
      bytes[static_cast<unsigned char>(rules.texts.back()[0])] = number;
    if (piece.type != kNormalPiece) continue;
    check_as(Exit::Data, normal.emplace(piece.text, number).second, "piece ", quote(piece.text), " stands twice");
    begins &= word_of_pieces(piece.text, 0) == piece.text.size();
  }
  check_as(Exit::Data, model.bytes == 0 || byte_count == 256, "has ", byte_count, " pieces of bytes, expected 256");
  if (model.bytes != 0) unknown.bytes = bytes;
  const auto token = [&](std::int32_t number) { return number < std::ssize(rules.texts) ? number : -1; };
  made.begin = token(model.begin);
  made.end = token(model.end);
  rules.kind = TokenKind::SentencePieces;
  rules.form = {.kind = TextForm::Kind::PieceBlanks,
                .blank = model.blank_before ? TextForm::Blank::Each : TextForm::Blank::None};
  rules.word = begins ? word_of_pieces : whole_text;
  rules.checksum = checksum_of(message(model.blank_before), rules.checksum);
  PairMerges merges = merges_of_pieces(model, normal);
  rules.model = character_pairs(std::move(merges), std::move(normal), unknown);
  return made;
}

}  // namespace

std::string byte_piece(int byte) { return formatted("<0x%02X>", byte); }

std::string text_of_piece(const std::string& piece) {
  const auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1; };
  if (piece.size() == 6 && piece.starts_with("<0x") && piece[5] == '>' && digit(piece[3]) >= 0 && digit(piece[4]) >= 0)
    return {static_cast<char>(digit(piece[3]) * 16 + digit(piece[4]))};
  std::string text;
  for (std::size_t at = 0; at < piece.size();) {
    const bool is_blank = std::string_view(piece).substr(at).starts_with(kPieceBlank);
    text += is_blank ? ' ' : piece[at];
    at += is_blank ? kPieceBlank.size() : 1;
  }
  return text;
}

SentencePieces sentence_pieces_in(std::string_view bytes) { return made_of(read_piece_model(bytes)); }

SentencePieces read_sentence_pieces(const std::string& file) {
  const FileBytes bytes = read_file(file);
  return with_context(file, [&] {
    return sentence_pieces_in({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  });
}

}  // namespace lethe
