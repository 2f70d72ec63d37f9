#include "agent/base/losses.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace jtrace {
namespace {

constexpr size_t kMaxNames = 3;
constexpr size_t kMaxNameBytes = 200;

}  // namespace

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

void Losses::AddNamed(absl::string_view loss, Severity severity, absl::string_view name,
                      absl::string_view what, absl::string_view advice) {
  std::lock_guard lock(mutex_);
  LossRow& row = Row(loss, severity, what, advice);
  ++row.count;
  std::string shown(name.substr(0, kMaxNameBytes));
  if (row.names.size() < kMaxNames &&
      std::find(row.names.begin(), row.names.end(), shown) == row.names.end()) {
    row.names.push_back(std::move(shown));
  }
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
    if (row.count == 0) continue;
    LossRow& copy = rows.emplace_back(row);
    if (row.names.empty()) continue;
    absl::StrAppend(&copy.what, ": ", absl::StrJoin(row.names, ", "),
                    row.count > row.names.size() ? ", …" : "");
  }
  return rows;
}

}  // namespace jtrace
