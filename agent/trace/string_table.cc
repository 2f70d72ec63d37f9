#include "agent/trace/string_table.h"

#include <algorithm>
#include <utility>

namespace jtrace::trace {

StringTable::Interned StringTable::Intern(absl::string_view text) {
  if (text.empty()) return {};
  if (const auto found = ids_.find(text); found != ids_.end()) return {found->second, false};
  auto entry = std::make_unique<Entry>(Entry{.text = std::string(text)});
  ids_.emplace(entry->text, ++last_);
  entries_.emplace(last_, std::move(entry));
  return {last_, true};
}

uint32_t StringTable::Find(absl::string_view text) const {
  const auto found = ids_.find(text);
  return found != ids_.end() ? found->second : 0;
}

absl::string_view StringTable::Text(uint32_t id) const {
  const auto found = entries_.find(id);
  return found != entries_.end() ? absl::string_view(found->second->text) : "";
}

void StringTable::Use(uint32_t id) {
  if (const auto found = entries_.find(id); found != entries_.end()) ++found->second->uses;
}

void StringTable::Release(uint32_t id) {
  const auto found = entries_.find(id);
  if (found == entries_.end() || --found->second->uses != 0) return;
  ids_.erase(found->second->text);
  entries_.erase(found);
}

absl::flat_hash_map<uint32_t, uint32_t> StringTable::Renumber() {
  std::vector<std::pair<uint32_t, std::unique_ptr<Entry>>> old;
  old.reserve(entries_.size());
  for (auto& [id, entry] : entries_) old.emplace_back(id, std::move(entry));
  std::sort(old.begin(), old.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  entries_.clear();
  last_ = 0;
  absl::flat_hash_map<uint32_t, uint32_t> renumbered = {{0, 0}};
  for (auto& [id, entry] : old) {
    renumbered[id] = ++last_;
    ids_[entry->text] = last_;
    entries_.emplace(last_, std::move(entry));
  }
  return renumbered;
}

std::vector<absl::string_view> StringTable::All() const {
  std::vector<absl::string_view> texts(entries_.size());
  for (const auto& [id, entry] : entries_) texts[id - 1] = entry->text;
  return texts;
}

}  // namespace jtrace::trace
