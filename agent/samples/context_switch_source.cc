#include "agent/samples/context_switch_source.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/base/perf_event.h"
#include "agent/base/perf_ring.h"
#include "proto/trace_format.h"

namespace jtrace::samples {
namespace {

// A thousand records of 16 bytes: a thread that is read ten times a second has room for 10,000
// switches a second.
constexpr uint64_t kSwitchRecordBytes = uint64_t{16} * 1024;

int OpenSwitchEvent(pid_t tid) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_DUMMY;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.context_switch = 1;
  attributes.sample_id_all = 1;
  attributes.sample_type = PERF_SAMPLE_TIME;
  attributes.use_clockid = 1;
  attributes.clockid = CLOCK_MONOTONIC;
  return static_cast<int>(
      syscall(SYS_perf_event_open, &attributes, tid, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

absl::Status WhyNoRecords(int error) {
  return absl::FailedPreconditionError(absl::StrCat(
      "the kernel does not record thread switches (perf_event_open: ", std::strerror(error), "); ",
      PerfEventRemedy(error, /*paranoid=*/2)));
}

}  // namespace

void ContextSwitchSource::Attach(uint32_t number, pid_t tid) {
  auto ring = ContextSwitchRing::Open(tid);
  if (!ring.ok()) {
    losses_.Add("switch.no_record", Severity::kWarning, 1,
                "threads whose switches the kernel does not record",
                std::string(ring.status().message()));
    return;
  }
  absl::MutexLock lock(&mutex_);
  threads_.try_emplace(number, Thread{*std::move(ring), {}, false});
}

void ContextSwitchSource::End(uint32_t number) {
  absl::MutexLock lock(&mutex_);
  const auto found = threads_.find(number);
  if (found != threads_.end()) found->second.has_ended = true;
}

void ContextSwitchSource::ReadRing(Thread& thread) {
  lost_ += thread.ring.Read([&thread](const ContextSwitch& it) { thread.pending.push_back(it); });
}

void ContextSwitchSource::Write(uint32_t number, Thread& thread, uint64_t until_ns,
                                proto::Chunk& chunk) {
  size_t written = 0;
  for (const ContextSwitch& it : thread.pending) {
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

void ContextSwitchSource::AddUntil(uint32_t number, uint64_t until_ns, proto::Chunk& chunk) {
  absl::MutexLock lock(&mutex_);
  const auto found = threads_.find(number);
  if (found == threads_.end()) return;
  ReadRing(found->second);
  Write(number, found->second, until_ns, chunk);
}

void ContextSwitchSource::WriteAll(uint64_t until_ns, proto::Chunk& chunk) {
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

void ContextSwitchSource::Poll(proto::Chunk& chunk) {
  const uint64_t now = clock_.Now();
  WriteAll(last_poll_ns_, chunk);
  last_poll_ns_ = now;
}

void ContextSwitchSource::AddChanges(uint64_t, proto::Chunk& chunk) {
  if (file_ends_) WriteAll(std::numeric_limits<uint64_t>::max(), chunk);
  file_ends_ = false;
}

absl::StatusOr<ContextSwitchRing> ContextSwitchRing::Open(pid_t tid) {
  const int fd = OpenSwitchEvent(tid);
  if (fd < 0) return WhyNoRecords(errno);
  void* const memory = mmap(nullptr, PerfRing::MappedBytes(kSwitchRecordBytes),
                            PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  const int error = errno;
  close(fd);  // the mapping keeps the event
  if (memory != MAP_FAILED) return ContextSwitchRing(memory);
  return absl::ResourceExhaustedError(
      absl::StrCat("no memory for the kernel's records of thread switches (", std::strerror(error),
                   "); raise ulimit -l, or sysctl kernel.perf_event_mlock_kb=65536"));
}

ContextSwitchRing::ContextSwitchRing(ContextSwitchRing&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)) {}

ContextSwitchRing& ContextSwitchRing::operator=(ContextSwitchRing&& other) noexcept {
  std::swap(memory_, other.memory_);
  return *this;
}

ContextSwitchRing::~ContextSwitchRing() {
  if (memory_ != nullptr) munmap(memory_, PerfRing::MappedBytes(kSwitchRecordBytes));
}

uint64_t ContextSwitchRing::Read(absl::FunctionRef<void(const ContextSwitch&)> visit) {
  PerfRing ring(memory_, kSwitchRecordBytes);
  const uint64_t head = ring.head();
  uint64_t lost = 0;
  for (uint64_t at = ring.tail(); at < head;) {
    const perf_event_header header = ring.Header(at);
    if (header.size < sizeof header) break;
    if (header.type == PERF_RECORD_SWITCH) {
      visit({ring.Word(at + 8), (header.misc & PERF_RECORD_MISC_SWITCH_OUT) == 0});
    } else if (header.type == PERF_RECORD_LOST) {
      lost += ring.Word(at + 16);  // after an id
    }
    at += header.size;
  }
  ring.Release(head);
  return lost;
}

}  // namespace jtrace::samples
