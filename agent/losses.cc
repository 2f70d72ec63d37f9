#include "agent/losses.h"

namespace jtrace {

LossRow& Losses::Row(absl::string_view name, Severity severity, absl::string_view what,
                     absl::string_view advice) {
  LossRow& row = rows_[std::string(name)];
  if (row.name.empty()) {
    row.name = std::string(name);
    row.severity = severity;
    row.what = std::string(what);
    row.advice = std::string(advice);
  }
  return row;
}

void Losses::Add(absl::string_view name, Severity severity, uint64_t count, absl::string_view what,
                 absl::string_view advice) {
  std::lock_guard lock(mutex_);
  Row(name, severity, what, advice).count += count;
}

void Losses::Set(absl::string_view name, Severity severity, uint64_t count, absl::string_view what,
                 absl::string_view advice) {
  std::lock_guard lock(mutex_);
  Row(name, severity, what, advice).count = count;
}

void Losses::Clear() {
  std::lock_guard lock(mutex_);
  rows_.clear();
}

uint64_t Losses::Count(absl::string_view name) const {
  std::lock_guard lock(mutex_);
  const auto row = rows_.find(name);
  return row != rows_.end() ? row->second.count : 0;
}

std::vector<LossRow> Losses::Snapshot() const {
  std::lock_guard lock(mutex_);
  std::vector<LossRow> rows;
  for (const auto& [name, row] : rows_) {
    if (row.count > 0) rows.push_back(row);
  }
  return rows;
}

}  // namespace jtrace
