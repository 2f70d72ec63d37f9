// Which threads are sampled, by name (threads=).
#ifndef JTRACE_AGENT_NAME_FILTER_H_
#define JTRACE_AGENT_NAME_FILTER_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace jtrace {

// Patterns in which `*` stands for any characters and `?` for one. Immutable: any thread.
class NameFilter {
 public:
  NameFilter() = default;
  explicit NameFilter(std::vector<std::string> patterns) : patterns_(std::move(patterns)) {}

  // Without patterns everything is wanted.
  bool Wants(absl::string_view name) const;

 private:
  std::vector<std::string> patterns_;
};

}  // namespace jtrace

#endif  // JTRACE_AGENT_NAME_FILTER_H_
