#include "agent/sources/switch_source.h"

#include <limits>
#include <string>
#include <utility>

#include "proto/trace_format.h"

namespace jtrace::trace {

void SwitchSource::Attach(uint32_t number, pid_t tid) {
  auto ring = sampling::SwitchRing::Open(tid);
  if (!ring.ok()) {
    losses_.Add("switch.no_record", Severity::kWarning, 1,
                "threads whose switches the kernel does not record",
                std::string(ring.status().message()));
    return;
  }
  absl::MutexLock lock(&mutex_);
  threads_.try_emplace(number, Thread{*std::move(ring), {}, false});
}

void SwitchSource::End(uint32_t number) {
  absl::MutexLock lock(&mutex_);
  const auto found = threads_.find(number);
  if (found != threads_.end()) found->second.has_ended = true;
}

void SwitchSource::ReadRing(Thread& thread) {
  lost_ += thread.ring.Read(
      [&thread](const sampling::ThreadSwitch& it) { thread.pending.push_back(it); });
}

void SwitchSource::Write(uint32_t number, Thread& thread, uint64_t until_ns, proto::Chunk& chunk) {
  size_t written = 0;
  for (const sampling::ThreadSwitch& it : thread.pending) {
    const uint64_t time = clock_.Since(it.monotonic_ns);
    if (time > until_ns) break;
    ++written;
    proto::Event& event = *chunk.add_event();
    event.set_time_ns(time);
    event.set_thread(number);
    event.set_major(format::kThreadSwitch);
    event.set_minor(it.is_on ? format::kSwitchOn : format::kSwitchOn | format::kEnd);
  }
  thread.pending.erase(thread.pending.begin(),
                       thread.pending.begin() + static_cast<std::ptrdiff_t>(written));
}

void SwitchSource::AddUntil(uint32_t number, uint64_t until_ns, proto::Chunk& chunk) {
  absl::MutexLock lock(&mutex_);
  const auto found = threads_.find(number);
  if (found == threads_.end()) return;
  ReadRing(found->second);
  Write(number, found->second, until_ns, chunk);
}

void SwitchSource::WriteAll(uint64_t until_ns, proto::Chunk& chunk) {
  absl::MutexLock lock(&mutex_);
  for (auto it = threads_.begin(); it != threads_.end();) {
    Thread& thread = it->second;
    const bool was_over = thread.has_ended;  // by now the ring has all that it will have
    ReadRing(thread);
    Write(it->first, thread, until_ns, chunk);
    if (was_over && thread.pending.empty()) {
      threads_.erase(it++);
    } else {
      ++it;
    }
  }
  losses_.Set("switch.dropped", Severity::kWarning, lost_,
              "thread switches that the kernel had no room to record",
              "these times count as on a processor; the thread is switched very often");
}

void SwitchSource::Poll(proto::Chunk& chunk) {
  const uint64_t now = clock_.Now();
  WriteAll(last_poll_ns_, chunk);
  last_poll_ns_ = now;
}

void SwitchSource::Seal(uint64_t, proto::Chunk& chunk) {
  if (file_ends_) WriteAll(std::numeric_limits<uint64_t>::max(), chunk);
  file_ends_ = false;
}

}  // namespace jtrace::trace
