#include "postproc/model/address_map.h"

namespace jtrace::postproc {

void AddressMap::Seal() {
  std::stable_sort(changes_.begin(), changes_.end(),
                   [](const Change& a, const Change& b) { return a.range.from < b.range.from; });
  std::map<uint64_t, size_t> live;  // start → index in ranges_; live ranges do not overlap
  for (const Change& change : changes_) {
    auto at = live.upper_bound(change.range.start);
    if (at != live.begin() && ranges_[std::prev(at)->second].end > change.range.start) --at;
    while (at != live.end() && at->first < change.range.end) {
      ranges_[at->second].to = change.range.from;
      at = live.erase(at);
    }
    if (change.removal) continue;
    live[change.range.start] = ranges_.size();
    ranges_.push_back(change.range);
  }
  changes_.clear();
  std::stable_sort(ranges_.begin(), ranges_.end(), [](const auto& a, const auto& b) {
    return a.start != b.start ? a.start < b.start : a.from < b.from;
  });
  greatest_end_.clear();
  uint64_t greatest = 0;
  for (const AddressRange& range : ranges_) {
    greatest = std::max(greatest, range.end);
    greatest_end_.push_back(greatest);
  }
}

const AddressRange* AddressMap::Find(uint64_t address, int64_t time) const {
  auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), address,
                       [](uint64_t a, const AddressRange& range) { return a < range.start; });
  const AddressRange* next = nullptr;
  const AddressRange* last = nullptr;
  for (size_t i = static_cast<size_t>(after - ranges_.begin()); i-- > 0;) {
    if (greatest_end_[i] <= address) break;
    const AddressRange& range = ranges_[i];
    if (range.end <= address) continue;
    if (range.from <= time && time < range.to) return &range;
    if (range.from > time) {
      if (next == nullptr || range.from < next->from) next = &range;
    } else if (last == nullptr || range.from > last->from) {
      last = &range;
    }
  }
  return next != nullptr ? next : last;
}

}  // namespace jtrace::postproc
