#include "train/session/checkpoint.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "framework/builder/frozen.h"
#include "framework/error.h"
#include "framework/formatted.h"
#include "framework/ranks/peers.h"
#include "train/data/checksum.h"
#include "train/session/atomic_file.h"
#include "train/session/run_tensors.h"
#include "train/session/share_files.h"
#include "train/session/weights.h"

namespace lethe {
namespace {

namespace fs = std::filesystem;

constexpr const char *kWeights = "weights.safetensors", *kOptimizer = "optimizer.safetensors";
constexpr const char* kFiles[] = {kWeights, kOptimizer, kShareIndex, "state.json", kNetworkFolder};
constexpr const char* kStepPrefix = "step-";
constexpr const char* kWriting = ".new-";   // what is being written
constexpr const char* kRemoving = ".old-";  // what is being removed: never a checkpoint again

bool starts_with(const std::string& text, std::string_view start) { return text.compare(0, start.size(), start) == 0; }

/// Runs `body`; what the file system refuses becomes an Error.
template <class Body>
auto on_disk(const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (const fs::filesystem_error& error) {
    throw error_of(error);
  }
}

/// The name that the link has: "step-000400"; "" if there is no such link.
std::string target_of(const fs::path& link) {
  std::error_code error;
  const fs::path target = fs::read_symlink(link, error);
  return error ? "" : target.string();
}

/// Points the link at `target` by one rename.
void set_link(const fs::path& directory, const std::string& name, const std::string& target) {
  const fs::path aside = directory / message(kWriting, name);
  fs::remove(aside);
  fs::create_symlink(target, aside);
  fs::rename(aside, directory / name);
}

std::vector<std::string> names_starting(const fs::path& directory, std::string_view start) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory))
    if (const std::string name = entry.path().filename().string(); starts_with(name, start)) names.push_back(name);
  return names;
}

/// Checkpoints in the directory, newest first.
std::vector<std::string> newest_first(const fs::path& directory) {
  std::vector<std::pair<fs::file_time_type, std::string>> found;
  for (const std::string& name : names_starting(directory, kStepPrefix))
    if (is_checkpoint(directory / name)) found.emplace_back(fs::last_write_time(directory / name / "state.json"), name);
  std::sort(found.rbegin(), found.rend());
  std::vector<std::string> names;
  for (const auto& [time, name] : found) names.push_back(name);
  return names;
}

/// The checkpoint that a run in the directory would go on from: the target of `latest`, or the newest if no save came
/// to its link.
std::string newest_in(const fs::path& directory) {
  const std::string target = target_of(directory / "latest");
  if (!target.empty() && is_checkpoint(directory / target)) return target;
  const std::vector<std::string> names = newest_first(directory);
  return names.empty() ? "" : names.front();
}

bool in_use(const fs::path& directory, const std::string& name) {
  return name == newest_in(directory) || name == target_of(directory / "best");
}

/// Takes the name of a checkpoint away before its files go, so that half of one is never taken for a whole one.
void discard(const fs::path& directory, const std::string& name) {
  const fs::path gone = directory / message(kRemoving, name);
  fs::remove_all(gone);
  fs::rename(directory / name, gone);
  fs::remove_all(gone);
}

void remove_leftovers(const fs::path& directory) {
  for (const char* start : {kWriting, kRemoving})
    for (const std::string& name : names_starting(directory, start)) fs::remove_all(directory / name);
}

/// "step-000400".
std::string name_of_step(std::int64_t step) { return kStepPrefix + formatted("%06lld", static_cast<long long>(step)); }

/// Adds ".2", ".3"... if that name is in use.
std::string free_name(const fs::path& directory, const std::string& base) {
  std::string name = base;
  for (int count = 2; in_use(directory, name); ++count) name = message(base, '.', count);
  return name;
}

/// DIR/weights.safetensors -> latest/weights.safetensors, and so on, of what that has.
void link_files(const fs::path& directory) {
  for (const char* file : kFiles) {
    const fs::path link = directory / file;
    const bool is_there = fs::exists(directory / "latest" / file), is_linked = fs::is_symlink(link);
    if (is_linked && !is_there) fs::remove(link);
    if (!is_linked && is_there && !fs::exists(link)) fs::create_symlink(fs::path("latest") / file, link);
  }
}

bool leads(const Store& store) { return !store.device().peers() || store.device().peers()->rank().number == 0; }

}  // namespace

Checkpoints::Checkpoints(std::string directory, int keep, bool sharded)
    : directory_(std::move(directory)), keep_(keep), sharded_(sharded) {
  check(keep >= 1, "checkpoints to keep: ", keep, ", expected at least 1");
  check_writable(directory_);
}

std::string Checkpoints::save(const RunState& state, const Store& store, const Network& network, bool best) {
  const std::string bad = not_finite(store, network);
  check_as(Exit::Numeric, bad.empty(), "'", bad, "' holds values that are not finite after step ", state.step,
           ": nothing is saved, and what '", directory_, "' holds stays as it is; try a smaller `lr`");
  const fs::path directory(directory_);
  const std::string base = name_of_step(state.step);
  const fs::path aside = directory / message(kWriting, base);
  if (!leads(store)) {
    write_tensors(aside.string(), state, store, network);
    return "";
  }
  return on_disk([&]() -> std::string {
    remove_leftovers(directory);
    const std::string name = free_name(directory, base);
    try {
      write(aside.string(), state, store, network);
    } catch (...) {
      std::error_code ignored;  // the failure at hand is what counts
      fs::remove_all(aside, ignored);
      throw;
    }
    if (fs::exists(directory / name)) discard(directory, name);  // unused, of a run that went another way
    fs::rename(aside, directory / name);
    sync_directory(directory_);
    if (best) set_link(directory, "best", name);
    set_link(directory, "latest", name);
    link_files(directory);
    sync_directory(directory_);
    prune();
    return (directory / name).string();
  });
}

void Checkpoints::write(const std::string& path, const RunState& state, const Store& store,
                        const Network& network) const {
  fs::create_directory(path);
  RunState complete = state;
  complete.frozen = frozen_params(network);
  complete.checksums = write_tensors(path, state, store, network);
  write_state(path, complete);
}

std::map<std::string, std::uint32_t> Checkpoints::write_tensors(const std::string& path, const RunState& state,
                                                                const Store& store, const Network& network) const {
  const std::set<std::string> elsewhere = names_of(state.elsewhere);
  if (sharded_) {
    save_shares_but(elsewhere, path, state.step, store, network);
    return {{kShareIndex, leads(store) ? checksum_of_file(message(path, '/', kShareIndex)) : 0}};
  }
  const auto file = [&](const char* name) { return leads(store) ? message(path, '/', name) : ""; };
  const std::uint32_t weights = save_weights_but(elsewhere, file(kWeights), store, network);
  return {{kWeights, weights}, {kOptimizer, save_optimizer(file(kOptimizer), store, network)}};
}

void Checkpoints::prune() const {
  const std::vector<std::string> names = newest_first(directory_);
  for (std::size_t i = static_cast<std::size_t>(keep_); i < names.size(); ++i)
    if (!in_use(directory_, names[i])) discard(directory_, names[i]);
}

bool is_checkpoint(const fs::path& directory) { return fs::is_regular_file(directory / "state.json"); }

std::string find_latest(const std::string& directory) {
  return on_disk([&]() -> std::string {
    const fs::path path(directory);
    if (is_checkpoint(path) && target_of(path / "latest").empty()) return directory;
    if (!fs::is_directory(path)) return "";
    const std::string name = newest_in(path);
    return name.empty() ? "" : (path / name).string();
  });
}

std::string checkpoint_in(const std::string& directory) {
  std::string found = find_latest(directory);
  check_as(Exit::Data, !found.empty(), "'", directory, "' holds no checkpoint");
  return found;
}

std::vector<std::string> load_checkpoint(const std::string& checkpoint, const RunState& state, Store& store,
                                         const Network& network) {
  for (const auto& [file, checksum] : state.checksums) check_unchanged(checkpoint, state, file);
  const Loaded loaded = load_weights(tensors_in(checkpoint, kWeights), store, network, state.elsewhere);
  begin_averages(store);
  load_optimizer(tensors_in(checkpoint, kOptimizer), store, network, state.frozen);
  return loaded.lines;
}

}  // namespace lethe
