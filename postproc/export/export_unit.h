// The units of measures in the formats of other tools.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "postproc/calltree/measure.h"
#include "postproc/export/export_tree.h"
#include "postproc/model/trace_model.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {

struct ExportUnit {
  // "count", "ticks", "nanoseconds", "microseconds", "milliseconds", "bytes"
  std::string_view name;
  int64_t ns = 0;  // that 1 means; 0: not known, or it is not a time
};

ExportUnit UnitOf(const Measure& measure, const TraceModel& model);

// A measure, times a factor, as one number of each sample.
struct SampleType {
  std::string type;
  std::string unit;
  const Measure* measure = nullptr;
  int64_t factor = 1;
};

// All measures of the tree, in its order. Ticks are a count, and a time where the interval
// is known. They refer to the tree's measures.
std::vector<SampleType> SampleTypes(const ExportTree& tree, const TraceModel& model);
// The kind of a tick's time: "cpu", "wall".
std::string_view TickType(const TraceModel& model);

// FrameBytes of formats whose frames are numbers: readers hold them as such.
inline size_t BytesOfLocation(const CallNode&) { return sizeof(uint64_t); }

// Texts by number; 0 is "".
class NumberedTexts {
 public:
  int64_t Number(std::string_view text) {
    const auto [entry, inserted] = numbers_.try_emplace(text, numbers_.size());
    if (inserted) texts_.push_back(entry->first);
    return static_cast<int64_t>(entry->second);
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  StringMap<size_t> numbers_ = {{"", 0}};
  std::vector<std::string> texts_ = {""};
};

}  // namespace jtrace::postproc
