#include "agent/instrument/place_table.h"

#include <algorithm>
#include <iterator>

#include "absl/hash/hash.h"
#include "agent/hot/layout.h"

namespace jtrace {

static_assert(classfile::kIdWithoutPlace == hot::kWithoutPlace);

uint32_t PlaceTable::NumberOf(uint32_t routine, CallPlace place) {
  {
    const absl::MutexLock lock(&mutex_);
    std::vector<CallPlace>& places = routines_[routine].places;
    const auto known = std::find(places.begin(), places.end(), place);
    const auto number = static_cast<uint32_t>(known - places.begin()) + 1;
    if (known != places.end()) return number;
    if (number <= hot::kMostPlaces) {
      places.push_back(place);
      return number;
    }
  }
  losses_.Add("sites.no_numbers", Severity::kWarning, 1,
              "lines with calls that are not distinguished: a method has 2,046 distinguished ones",
              "split the method");
  return 0;
}

bool PlaceTable::KnowsOtherCode(std::string_view class_name, classfile::Bytes class_bytes) {
  const size_t hash = std::max<size_t>(absl::HashOf(class_bytes), 1);
  const absl::MutexLock lock(&mutex_);
  const auto [entry, inserted] = codes_.try_emplace(std::string(class_name), hash);
  if (entry->second != hash) entry->second = 0;
  return entry->second == 0;
}

void PlaceTable::SetCode(const classfile::InstrumentResult& result) {
  const absl::MutexLock lock(&mutex_);
  for (const classfile::MethodOutcome& outcome : result.methods) {
    if (!outcome.probed) continue;
    Routine& routine = routines_[outcome.id];
    routine.placed = outcome.placed;
    routine.only = outcome.only_place;
    routine.is_initializer = outcome.method.name == "<clinit>";
    if (outcome.id < hot::kPlacedIds) continue;
    losses_.Add("sites.no_routines", Severity::kWarning, 1,
                "methods whose callers' lines are not distinguished: there are a million before "
                "them",
                "count fewer methods: include=com.acme.**");
  }
}

CallPlace PlaceTable::Place(uint32_t caller, uint32_t number, uint32_t callee) const {
  const absl::MutexLock lock(&mutex_);
  const auto found = routines_.find(caller);
  if (found == routines_.end()) return kNoCallPlace;
  const Routine& routine = found->second;
  if (number != 0) {
    return number <= routine.places.size() ? routine.places[number - 1] : kNoCallPlace;
  }
  const auto called = routines_.find(callee);
  const bool is_initializer = called != routines_.end() && called->second.is_initializer;
  return is_initializer ? kNoCallPlace : routine.only;
}

CallPlace PlaceTable::PlaceAt(uint32_t routine, uint32_t bci) const {
  const absl::MutexLock lock(&mutex_);
  const auto found = routines_.find(routine);
  if (found == routines_.end()) return kNoCallPlace;
  const std::vector<classfile::PlacedCode>& placed = found->second.placed;
  const auto after =
      std::upper_bound(placed.begin(), placed.end(), bci,
                       [](uint32_t at, const classfile::PlacedCode& row) { return at < row.bci; });
  if (after == placed.begin()) return kNoCallPlace;
  const classfile::PlacedCode& row = *std::prev(after);
  // Without line numbers only the calls themselves are known.
  return IsLine(row.place) || row.bci == bci ? row.place : kNoCallPlace;
}

}  // namespace jtrace
