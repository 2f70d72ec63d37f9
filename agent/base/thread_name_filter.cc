#include "agent/base/thread_name_filter.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "common/glob.h"
#include "common/nearest.h"

namespace jtrace {
namespace {

// How many names are kept for NearestTo. A program with more threads has similar names for most.
constexpr size_t kMaxNearest = 1000;

}  // namespace

ThreadNameFilter::ThreadNameFilter(std::vector<std::string> patterns)
    : patterns_(std::move(patterns)) {
  if (patterns_.empty()) return;
  seen_ = std::make_unique<SeenNames>();
  absl::MutexLock lock(&seen_->mutex);
  seen_->matched.resize(patterns_.size());
}

bool ThreadNameFilter::Wants(absl::string_view name) const {
  if (patterns_.empty()) return true;
  const std::string_view text(name.data(), name.size());
  absl::MutexLock lock(&seen_->mutex);
  if (seen_->names.size() < kMaxNearest) seen_->names.emplace(name);
  bool wanted = false;
  for (size_t i = 0; i < patterns_.size(); ++i) {
    if (!GlobMatches(patterns_[i], text)) continue;
    seen_->matched[i] = true;
    wanted = true;
  }
  return wanted;
}

std::vector<std::string> ThreadNameFilter::Unmatched() const {
  std::vector<std::string> unmatched;
  if (patterns_.empty()) return unmatched;
  absl::MutexLock lock(&seen_->mutex);
  for (size_t i = 0; i < patterns_.size(); ++i) {
    if (!seen_->matched[i]) unmatched.push_back(patterns_[i]);
  }
  return unmatched;
}

std::vector<std::string> ThreadNameFilter::NearestTo(absl::string_view pattern,
                                                     size_t count) const {
  if (patterns_.empty()) return {};
  std::vector<std::pair<size_t, std::string>> names;
  {
    absl::MutexLock lock(&seen_->mutex);
    for (const std::string& name : seen_->names) {
      names.emplace_back(EditDistance(pattern, name), name);
    }
  }
  std::sort(names.begin(), names.end());
  std::vector<std::string> nearest;
  for (auto& [distance, name] : names) {
    if (nearest.size() == count) break;
    nearest.push_back(std::move(name));
  }
  return nearest;
}

}  // namespace jtrace
