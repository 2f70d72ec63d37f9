#include "agent/abi/readers.h"

#include <utility>

#include "agent/api/c/jtrace.h"
#include "agent/metrics/wrap_add.h"

namespace jtrace::abi {

int32_t Readers::Open(const Subject& subject, const uint32_t* ids, size_t count, uint64_t& reader) {
  auto made = std::make_shared<Reader>();
  made->subject = subject;
  made->ids.assign(ids, ids + count);
  made->now.resize(count);
  made->last.resize(count);
  const int32_t code = ReadTotals(subject, ids, count, made->last.data());
  if (code != JTRACE_OK) return code;
  const std::lock_guard lock(mutex_);
  if (readers_.size() == kMost) return JTRACE_E_FULL;
  readers_.emplace(last_ + 1, std::move(made));
  reader = ++last_;
  return JTRACE_OK;
}

int32_t Readers::Read(uint64_t reader, int64_t* totals, int64_t* deltas) {
  std::shared_ptr<Reader> found;
  {
    const std::lock_guard lock(mutex_);
    const auto it = readers_.find(reader);
    if (it == readers_.end()) return JTRACE_E_HANDLE;
    found = it->second;
  }
  const std::lock_guard lock(found->mutex);
  const size_t count = found->ids.size();
  const int32_t code = ReadTotals(found->subject, found->ids.data(), count, found->now.data());
  if (code != JTRACE_OK) return code;
  for (size_t i = 0; i < count; ++i) {
    if (totals != nullptr) totals[i] = found->now[i];
    if (deltas != nullptr) deltas[i] = metrics::WrapSubtract(found->now[i], found->last[i]);
  }
  found->last.swap(found->now);
  return JTRACE_OK;
}

int32_t Readers::Close(uint64_t reader) {
  const std::lock_guard lock(mutex_);
  return readers_.erase(reader) != 0 ? JTRACE_OK : JTRACE_E_HANDLE;
}

}  // namespace jtrace::abi
