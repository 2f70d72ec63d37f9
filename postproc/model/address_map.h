// Which of many address ranges held an address at a time (S3.10): code and modules are loaded and
// unloaded, and an address may belong to another one later.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

namespace jtrace::postproc {

// A range of addresses, and the times at which it holds.
struct AddressRange {
  uint64_t start = 0;
  uint64_t end = 0;
  int64_t from = 0;                                  // valid from this time on
  int64_t to = std::numeric_limits<int64_t>::max();  // up to, not including, this one
  uint32_t payload = 0;
};

// Add and Remove in any order of time, then Seal once, then Find.
class AddressMap {
 public:
  // A range that overlaps older ones ends them.
  void Add(uint64_t start, uint64_t end, int64_t time, uint32_t payload) {
    if (start < end) changes_.push_back({{start, end, time, kForever, payload}, false});
  }
  void Remove(uint64_t start, uint64_t end, int64_t time) {
    if (start < end) changes_.push_back({{start, end, time, kForever, 0}, true});
  }
  void Seal();

  // The range that held `address` at `time`. If none did, the next one that did, because a module
  // may be seen a little later than its code first runs; otherwise the last one before. Null: no
  // range ever did.
  const AddressRange* Find(uint64_t address, int64_t time) const;

 private:
  static constexpr int64_t kForever = std::numeric_limits<int64_t>::max();
  struct Change {
    AddressRange range;
    bool removal = false;
  };
  std::vector<Change> changes_;
  std::vector<AddressRange> ranges_;    // by start
  std::vector<uint64_t> greatest_end_;  // of ranges_[0 … i]
};

}  // namespace jtrace::postproc
