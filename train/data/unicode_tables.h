// Tables of Unicode as numbers in hexadecimal with blanks between; scripts/unicode_forms makes them and says what
// stands in each. train/data/unicode_forms.cpp reads them.
#pragma once

namespace lethe::unicode_tables {

const char* canonical_pairs();
const char* combining_classes();
const char* small_letters();
const char* bert_accents();
const char* bert_marks();
const char* bert_controls();

}  // namespace lethe::unicode_tables
