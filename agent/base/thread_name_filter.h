// Which threads are sampled, by name (threads=).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_set.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

namespace jtrace {

// Patterns in which `*` matches any characters and `?` one. Remembers the names that it was given,
// to report patterns that matched nothing. Any thread.
class ThreadNameFilter {
 public:
  ThreadNameFilter() = default;
  explicit ThreadNameFilter(std::vector<std::string> patterns);

  // Returns whether a pattern matches the name; without patterns every name is wanted.
  bool Wants(absl::string_view name) const;

  // Returns the patterns that no name has matched so far.
  std::vector<std::string> Unmatched() const;
  // Returns those `count` of the names so far that are nearest to a pattern, the nearest first.
  std::vector<std::string> NearestTo(absl::string_view pattern, size_t count) const;

 private:
  struct SeenNames {
    absl::Mutex mutex;
    std::vector<bool> matched ABSL_GUARDED_BY(mutex);  // by pattern
    absl::btree_set<std::string> names ABSL_GUARDED_BY(mutex);
  };

  std::vector<std::string> patterns_;
  std::unique_ptr<SeenNames> seen_;  // null without patterns
};

}  // namespace jtrace
