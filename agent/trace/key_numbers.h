// Numbers for the things that a trace defines, by their keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace jtrace::trace {

// `Key`: hashable, equal for the same thing. Numbers begin at 1 and are never reused.
template <typename Key>
class KeyNumbers {
 public:
  struct Entry {
    Key key;
    bool is_defined = false;  // the current file defines it
  };

  // The key's number, and whether it is new.
  std::pair<uint32_t, bool> Add(const Key& key) {
    const auto [entry, is_new] = numbers_.try_emplace(key, last_ + 1);
    if (is_new) entries_.emplace(++last_, Entry{key});
    return {entry->second, is_new};
  }
  uint32_t Find(const Key& key) const {
    const auto found = numbers_.find(key);
    return found != numbers_.end() ? found->second : 0;
  }
  // Null if there is none, or it was erased.
  Entry* Get(uint32_t number) {
    const auto found = entries_.find(number);
    return found != entries_.end() ? &found->second : nullptr;
  }

  // `condition` receives number and key.
  template <typename Condition>
  void EraseIf(Condition condition) {
    absl::erase_if(entries_, [&](const auto& entry) {
      if (!condition(entry.first, entry.second.key)) return false;
      numbers_.erase(entry.second.key);
      return true;
    });
  }
  template <typename Action>
  void ForEach(Action action) const {
    for (const auto& [number, entry] : entries_) action(number, entry.key);
  }
  // A file begins that defines nothing yet. `change` may change each key; the new keys must be
  // distinct.
  template <typename Change>
  void BeginFile(Change change) {
    numbers_.clear();
    for (auto& [number, entry] : entries_) {
      change(entry.key);
      entry.is_defined = false;
      numbers_.emplace(entry.key, number);
    }
  }

  uint32_t last() const { return last_; }
  size_t size() const { return entries_.size(); }

 private:
  uint32_t last_ = 0;
  absl::flat_hash_map<Key, uint32_t> numbers_;
  absl::flat_hash_map<uint32_t, Entry> entries_;
};

}  // namespace jtrace::trace
