// The distinct sets of labels that threads of the program have had (JTrace.label), by number.
// Numbers are valid for the life of the JVM. Any thread but handlers; one mutex, a leaf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "agent/samples/handler/thread_labels.h"

namespace jtrace::trace {

// Key and value, sorted by key, each key once; as the JVM gives texts (modified UTF-8).
using Labels = std::vector<std::pair<std::string, std::string>>;

// Returns the longest beginning of at most `most` bytes that splits no character.
absl::string_view TruncateUtf8(size_t most, absl::string_view text);

class LabelSets {
 public:
  static constexpr size_t kMaxKeyBytes = 64;
  // Longer values are cut, between characters.
  static constexpr size_t kMaxValueBytes = 256;
  static constexpr size_t kMaxLabels = 16;

  // At most `most` sets get numbers.
  explicit LabelSets(uint32_t most = samples::kMaxLabelSets) : most_(most) {}
  LabelSets(const LabelSets&) = delete;
  LabelSets& operator=(const LabelSets&) = delete;

  // Returns the number of the set `outer` with `key` set to `value`; "" removes the key. Returns
  // samples::kUnknownLabels if there are too many sets, or labels in the set, if the key is empty
  // or too long, or if `outer` is unknown.
  uint32_t With(uint32_t outer, absl::string_view key, absl::string_view value);
  // Returns null if no set has that number. The set is valid and unchanged as long as this lives.
  const Labels* Find(uint32_t number) const;

 private:
  const uint32_t most_;
  mutable std::mutex mutex_;              // guards all below
  std::map<Labels, uint32_t> numbers_;    // the empty set, 0, is not in it
  std::vector<const Labels*> by_number_;  // from 1 on
};

}  // namespace jtrace::trace
