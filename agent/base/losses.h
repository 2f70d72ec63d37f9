// Everything that was not recorded, by name: the one table of losses of the agent.
//
// Cold code counts here directly (any thread); hot code keeps its own counters, which the writer
// thread copies in before each chunk. jtrace-post prints the table with the advice.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/string_view.h"

namespace jtrace {

// The effect of a loss on the results: none, incomplete, wrong (proto Loss.Severity).
enum class Severity { kInfo, kWarning, kError };

// A row of the table.
struct LossRow {
  std::string name;
  Severity severity = Severity::kInfo;
  uint64_t count = 0;
  std::string what;
  std::string advice;
  std::vector<std::string> names = {};  // the first few that AddNamed was given
};

class Losses {
 public:
  // Adds to a row, which the first call defines.
  void Add(absl::string_view name, Severity severity, uint64_t count, absl::string_view what,
           absl::string_view advice = {});
  // Adds one loss with a name. The table shows the first few names after `what`; long ones are cut.
  void AddNamed(absl::string_view loss, Severity severity, absl::string_view name,
                absl::string_view what, absl::string_view advice = {});
  // Sets the count of a row to a running total that is kept elsewhere.
  void Set(absl::string_view name, Severity severity, uint64_t count, absl::string_view what,
           absl::string_view advice = {});
  // Removes all rows: a new recording starts without losses.
  void Clear();
  // Returns the count of a row; 0 if there is none.
  uint64_t Count(absl::string_view name) const;
  // Returns the rows with a count above 0, ordered by name; `what` ends with their `names`.
  std::vector<LossRow> Snapshot() const;

 private:
  LossRow& Row(absl::string_view name, Severity severity, absl::string_view what,
               absl::string_view advice);

  mutable std::mutex mutex_;  // guards rows_
  absl::btree_map<std::string, LossRow> rows_;
};

}  // namespace jtrace
