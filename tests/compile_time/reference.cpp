// What compile times are held against (tests/compile_time/run): standard headers, containers of strings, and loops over
// functors in several types, as the project's own sources have them, without anything of the project.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

template <int K>
struct Function {
  template <class T>
  T operator()(T x, T y) const {
    return K % 3 == 0 ? x * y + T(K) : K % 3 == 1 ? (x < y ? x - y : std::sqrt(y + T(K))) : x / (y + T(K));
  }
};

template <class T, class F>
std::function<void(std::int64_t, const T*, const T*, T*)> loop_over(F f) {
  return [f](std::int64_t n, const T* x, const T* y, T* to) {
    for (std::int64_t i = 0; i < n; ++i) to[i] = f(x[i], y[i]);
  };
}

template <class T, class F>
std::function<double(std::int64_t, std::int64_t, const T*)> sums_over(F f) {
  return [f](std::int64_t rows, std::int64_t columns, const T* x) {
    std::vector<double> sums(static_cast<std::size_t>(columns));
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t c = 0; c < columns; ++c)
        sums[static_cast<std::size_t>(c)] += static_cast<double>(f(x[row * columns + c], T(1)));
    return *std::max_element(sums.begin(), sums.end());
  };
}

struct Entry {
  std::string name;
  std::vector<std::string> words;
  std::map<std::string, std::set<std::int64_t>> places;
};

template <class T, int K>
void add_to(std::map<std::string, std::shared_ptr<Entry>>& all, std::vector<std::function<double()>>& calls) {
  auto entry = std::make_shared<Entry>();
  std::ostringstream text;
  text << "function " << K << " of " << sizeof(T) << " bytes";
  entry->name = text.str();
  std::istringstream words(entry->name);
  for (std::string word; words >> word;) entry->places[word].insert(K), entry->words.push_back(word);
  std::sort(entry->words.begin(), entry->words.end(), [](const auto& a, const auto& b) { return b < a; });
  calls.push_back([map = loop_over<T>(Function<K>{}), sums = sums_over<T>(Function<K>{})] {
    std::vector<T> x(64, T(K)), y(64, T(2)), to(64);
    map(64, x.data(), y.data(), to.data());
    return sums(8, 8, to.data());
  });
  all.emplace(entry->name, std::move(entry));
  if constexpr (K > 0) add_to<T, K - 1>(all, calls);
}

}  // namespace

int main() {
  std::map<std::string, std::shared_ptr<Entry>> all;
  std::vector<std::function<double()>> calls;
  add_to<float, 11>(all, calls);
  add_to<double, 11>(all, calls);
  double total = 0;
  for (const auto& call : calls) total += call();
  return all.size() == calls.size() && std::isfinite(total) ? 0 : 1;
}
