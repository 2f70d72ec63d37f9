// Walks the entries and exits of one EventLog (record=log) without making objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "postproc/model/record_visitor.h"
#include "postproc/reader/definitions.h"

namespace jtrace::postproc {

// A call as stored in the log.
struct LogCall {
  int64_t time = 0;
  uint32_t op = 0;
};

class LogCursor {
 public:
  // The number of calls to request from Take at once: as many as stay in the first-level cache
  // between their decoding and the tree.
  static constexpr size_t kCallsAtOnce = 1024;

  // `bytes`: the serialized EventLog, which must outlive the cursor. Invalid bytes make a damaged
  // cursor at its end.
  explicit LogCursor(std::string_view bytes);
  LogCursor() = default;  // at its end

  uint32_t thread() const { return thread_; }
  bool AtEnd() const { return ops_.empty(); }
  // The log ended in the middle of a number, or was invalid. Known when AtEnd.
  bool damaged() const { return damaged_; }
  // Of the next event; only before AtEnd.
  int64_t time() const { return time_; }

  // An item between calls: a position or a dropped stretch (proto/FORMAT.md, "Logs").
  struct Mark {
    uint64_t op = 0;
    uint64_t value = 0;
  };
  bool AtMark() const;
  // Takes the mark; only if AtMark.
  Mark TakeMark();

  // Appends the next calls up to a mark: at most `limit`, none later than `until`, times raised to
  // `floor`.
  void Take(int64_t until, int64_t floor, size_t limit, Definitions& definitions,
            std::vector<CallRecord>& calls);
  // The same with the log's own times.
  void Take(int64_t until, size_t limit, std::vector<LogCall>& calls);

  // The remaining bytes of ops: the cursor's position in the log.
  size_t ops_left() const { return ops_.size(); }

 private:
  bool ParseFields(std::string_view bytes);
  void Canonicalize(std::string_view bytes);
  void StepTime();
  void Fail();
  // take(op) for the next calls up to a mark, at most `limit`, none later than `until`.
  template <typename TakeCall>
  void ForEachCall(int64_t until, size_t limit, TakeCall take);

  uint32_t thread_ = 0;
  int64_t time_ = 0;
  bool damaged_ = false;
  std::string_view ops_;
  std::string_view deltas_;
  // Owned bytes of a log with fields in several pieces.
  std::shared_ptr<const std::string> canonical_;
};

}  // namespace jtrace::postproc
