// Complaints about a network file get the place that they are about on their way up.
#pragma once
#include <string>

#include "framework/builder/builder.h"
#include "models/json_source.h"

namespace lethe {

/// Runs `body`; a SourceError that leaves it without a path gets this one.
template <class Body>
auto at_path(const std::string& path, const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (const SourceError& error) {
    throw SourceError(error.where, error.path.empty() ? path : error.path, error.text);
  }
}

/// Runs what a Builder does for an entry; its complaints get the place of the setting that they are about, else that of
/// the entry's `what`.
template <class Body>
auto built(const JsonNode& entry, const std::string& what, const std::string& path, const Body& body)
    -> decltype(body()) {
  const auto without_path = [&](const std::string& text) {
    return text.rfind(path + ": ", 0) == 0 ? text.substr(path.size() + 2) : text;
  };
  try {
    return body();
  } catch (const SourceError&) {
    throw;
  } catch (const SettingError& error) {
    entry.at(entry.has(error.key) ? error.key : what).fail(without_path(error.what()));
  } catch (const Error& error) {
    entry.at(what).fail(without_path(error.what()));
  }
}

}  // namespace lethe
