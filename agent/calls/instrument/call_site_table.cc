#include "agent/calls/instrument/call_site_table.h"

#include <algorithm>
#include <iterator>

#include "absl/hash/hash.h"
#include "agent/signal_safe/routine_id.h"

namespace jtrace::calls {

static_assert(classfile::kWithoutCallSite == signal_safe::kWithoutCallSite);

uint32_t CallSiteTable::NumberOf(uint32_t routine, CallSite site) {
  {
    const absl::MutexLock lock(&mutex_);
    std::vector<CallSite>& sites = routines_[routine].by_number;
    const auto known = std::find(sites.begin(), sites.end(), site);
    const auto number = static_cast<uint32_t>(known - sites.begin()) + 1;
    if (known != sites.end()) return number;
    if (number <= signal_safe::kMaxCallSites) {
      sites.push_back(site);
      return number;
    }
  }
  losses_.Add("sites.no_numbers", Severity::kWarning, 1,
              "lines with calls that are not distinguished: a method has 2,046 distinguished ones",
              "split the method");
  return 0;
}

bool CallSiteTable::AddClassAndFindOtherVersion(std::string_view class_name,
                                                classfile::Bytes class_bytes) {
  const size_t hash = std::max<size_t>(absl::HashOf(class_bytes), 1);
  const absl::MutexLock lock(&mutex_);
  const auto [entry, inserted] = codes_.try_emplace(std::string(class_name), hash);
  if (entry->second != hash) entry->second = 0;
  return entry->second == 0;
}

void CallSiteTable::SetCode(const classfile::RewriteResult& result) {
  const absl::MutexLock lock(&mutex_);
  for (const classfile::MethodOutcome& outcome : result.methods) {
    if (!outcome.probed) continue;
    Routine& routine = routines_[outcome.id];
    routine.call_sites = outcome.call_sites;
    routine.only = outcome.only_call_site;
    routine.is_initializer = outcome.method.name == "<clinit>";
    if (outcome.id < signal_safe::kCallSiteIds) continue;
    losses_.Add("sites.no_routines", Severity::kWarning, 1,
                "methods whose callers' lines are not distinguished: there are a million before "
                "them",
                "count fewer methods: include=com.acme.**");
  }
}

CallSite CallSiteTable::CallSiteOf(uint32_t caller, uint32_t number, uint32_t callee) const {
  const absl::MutexLock lock(&mutex_);
  const auto found = routines_.find(caller);
  if (found == routines_.end()) return kNoCallSite;
  const Routine& routine = found->second;
  if (number != 0) {
    return number <= routine.by_number.size() ? routine.by_number[number - 1] : kNoCallSite;
  }
  const auto called = routines_.find(callee);
  const bool is_initializer = called != routines_.end() && called->second.is_initializer;
  return is_initializer ? kNoCallSite : routine.only;
}

CallSite CallSiteTable::CallSiteAt(uint32_t routine, uint32_t bci) const {
  const absl::MutexLock lock(&mutex_);
  const auto found = routines_.find(routine);
  if (found == routines_.end()) return kNoCallSite;
  const std::vector<classfile::CallSiteRange>& call_sites = found->second.call_sites;
  const auto after = std::upper_bound(
      call_sites.begin(), call_sites.end(), bci,
      [](uint32_t at, const classfile::CallSiteRange& row) { return at < row.bci; });
  if (after == call_sites.begin()) return kNoCallSite;
  const classfile::CallSiteRange& row = *std::prev(after);
  // Without line numbers only the calls themselves are known.
  return IsLine(row.site) || row.bci == bci ? row.site : kNoCallSite;
}

}  // namespace jtrace::calls
