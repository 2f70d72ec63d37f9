// Classes in scope that have no probes, by name: a loss for each reason, whose row names the first
// few, and a record (0x20/0x5) for each class.
//
// Any Java thread, in class-file hooks too. No other lock is taken under its mutex.
#pragma once

#include <cstdint>
#include <mutex>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "agent/base/clock.h"
#include "agent/base/losses.h"
#include "agent/trace/record_encoder.h"

namespace jtrace::calls {

// Why a class has no probes; a row of the table in unprobed_classes.cc.
enum class UnprobedReason : uint8_t {
  kHidden,
  kExempt,
  kUnreadable,
  kNoNumbers,
  kNoMethodFits,
  kNotRetransformed,
  kNotHooked,
  kLate,
};
inline constexpr size_t kUnprobedReasonCount = static_cast<size_t>(UnprobedReason::kLate) + 1;

class UnprobedClasses {
 public:
  UnprobedClasses(const RecordingClock& clock, trace::RecordEncoder& encoder, Losses& losses)
      : clock_(clock), encoder_(encoder), losses_(losses) {}

  // A recording begins: no class lacks probes yet.
  void Clear();

  // Counts the class (ClassDef.id), once for each reason. `detail`: the JVM's message; may be
  // empty.
  void Add(UnprobedReason why, uint32_t class_id, absl::string_view binary_name,
           absl::string_view detail = {});

  // Whether the class was counted for the reason.
  bool Has(UnprobedReason why, uint32_t class_id) const;

  // Forgets unloaded classes; the counts stay.
  void Forget(const absl::flat_hash_set<uint32_t>& classes);

 private:
  const RecordingClock& clock_;
  trace::RecordEncoder& encoder_;
  Losses& losses_;
  mutable std::mutex mutex_;
  absl::flat_hash_map<uint32_t, uint32_t>
      reasons_;  // guarded by mutex_; a bit for each UnprobedReason
};

}  // namespace jtrace::calls
