// The word of a list that a mistyped one was probably meant to be. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "absl/strings/string_view.h"

namespace jtrace {

// Levenshtein's.
inline size_t EditDistance(absl::string_view a, absl::string_view b) {
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

template <typename Range, typename NameOf>
absl::string_view Nearest(absl::string_view word, const Range& range, NameOf name_of) {
  absl::string_view best;
  size_t best_distance = SIZE_MAX;
  for (const auto& item : range) {
    const size_t distance = EditDistance(word, name_of(item));
    if (distance < best_distance) {
      best_distance = distance;
      best = name_of(item);
    }
  }
  return best;
}

}  // namespace jtrace
