// Finds the word of a list that a mistyped word was probably meant to be; the agent and jtrace-post
// name it when they reject an option. Pure; for any kind of string_view.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>
#include <type_traits>
#include <vector>

namespace jtrace {

// The Levenshtein distance.
template <typename Word, typename Other>
size_t EditDistance(const Word& a, const Other& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t substitute = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substitute, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

// The first name of an item of `range` with the least distance to `word`; empty if `range` is
// empty.
template <typename Word, typename Range, typename NameOf = std::identity>
auto Nearest(const Word& word, const Range& range, NameOf name_of = {}) {
  std::decay_t<decltype(name_of(*std::begin(range)))> best;
  size_t best_distance = SIZE_MAX;
  for (const auto& item : range) {
    const auto name = name_of(item);
    // The distance is at least the difference of the lengths.
    const size_t longer = std::max(word.size(), name.size());
    const size_t shorter = std::min(word.size(), name.size());
    if (longer - shorter >= best_distance) continue;
    const size_t distance = EditDistance(word, name);
    if (distance < best_distance) {
      best_distance = distance;
      best = name;
    }
  }
  return best;
}

}  // namespace jtrace
