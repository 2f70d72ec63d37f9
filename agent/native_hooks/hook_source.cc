#include "agent/native_hooks/hook_source.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <span>
#include <utility>

#include "agent/native_hooks/hook_handler.h"

namespace jtrace::native_hooks {
namespace {

// The most rows of a file. Beyond them calls are summed by hook, thread and node alone.
constexpr size_t kMaxRows = 1 << 18;

proto::Hook::Kind KindOf(HookKind kind) {
  switch (kind) {
    case HookKind::kUnwind:
      return proto::Hook::UNWIND;
    case HookKind::kTime:
      return proto::Hook::TIME;
    default:
      return proto::Hook::COUNT;
  }
}

std::span<HookThread> Threads() {
  HookThread* const threads = hook_threads.load(std::memory_order_acquire);
  if (threads == nullptr) return {};
  return {threads, std::min(hook_threads_used.load(), kMaxHookThreads)};
}

bool IsEmpty(const HookRows& rows) { return rows.count.load(std::memory_order_relaxed) == 0; }

// Makes the thread use its other rows. Returns whether it is outside of its handler, so that the
// writer owns the rows that it has written.
bool SwapRows(HookThread& thread) {
  if (!thread.is_pending) {
    thread.active.store(1 - thread.active.load(), std::memory_order_seq_cst);
    thread.is_pending = true;
  }
  return thread.busy.load(std::memory_order_seq_cst) == 0;
}

void ReadRows(HookThread& thread, absl::FunctionRef<void(const HookRow&)> take) {
  HookRows& rows = thread.rows[1 - thread.active.load()];
  const uint32_t count = rows.count.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < count; ++i) take(rows.rows[i]);
  rows.Clear();
  thread.is_pending = false;
}

bool HasEnded(const HookThread& thread) {
  return syscall(SYS_tgkill, getpid(), thread.os_tid.load(), 0) != 0 && errno == ESRCH;
}

}  // namespace

HookSource::HookSource(Hooks& hooks, trace::RecordEncoder& encoder, Losses& losses,
                       samples::SampleSource::ThreadNumber thread_number,
                       samples::SampleSource::NodeNumber node_number)
    : hooks_(hooks),
      encoder_(encoder),
      losses_(losses),
      thread_number_(std::move(thread_number)),
      node_number_(std::move(node_number)),
      placements_read_(hooks.placed_so_far()),
      unwinds_missed_before_(native_hooks::hook_counters.unwinds_missed.load()),
      open_dropped_before_(native_hooks::hook_counters.open_dropped.load()),
      unwound_calls_before_(native_hooks::hook_counters.unwound_calls.load()) {
  // Drops what was counted after the end of an earlier recording.
  reader_.Drain([](const HookRow&) {});
}

// A hook that is removed and placed again with the same kind keeps its Hook.id.
void HookSource::ReadPlacedHooks() {
  for (PlacedHook& placed : hooks_.PlacedSince(placements_read_)) {
    ++placements_read_;
    const auto next = static_cast<uint32_t>(known_.size() + 1);
    const auto [hook, is_new] = by_kind_.try_emplace({placed.site, placed.kind}, next);
    by_placement_[placed.placement] = hook->second;
    const Unattributed none = {hook->second, placed.unattributed_before};
    unattributed_.try_emplace(placed.site, none).first->second.hook = hook->second;
    if (is_new) known_.push_back(std::move(placed));
  }
}

uint32_t HookSource::HookOf(uint32_t placement) {
  if (!by_placement_.contains(placement)) ReadPlacedHooks();
  const auto found = by_placement_.find(placement);
  return found != by_placement_.end() ? found->second : 0;
}

uint32_t HookSource::ThreadOf(const HookCaller& caller) {
  const uint32_t of_java = caller.java_tid != 0 ? thread_number_(caller.java_tid) : 0;
  if (of_java != 0) return of_java;
  if (caller.thread_number != 0) return caller.thread_number;
  if (other_threads_ == 0) other_threads_ = encoder_.DefineThread({.name = "[other threads]"});
  return other_threads_;
}

// HookCaller.jumped as Hook.id, the outermost first; 0: none.
HookSource::Jumped HookSource::JumpedOf(const HookCaller& caller) {
  Jumped jumped = {};
  size_t count = 0;
  for (const uint32_t placement : caller.jumped) {
    const uint32_t hook = placement != 0 ? HookOf(placement) : 0;
    if (hook != 0) jumped[count++] = hook;
  }
  return jumped;
}

proto::HookCalls& HookSource::Total(const Key& key) {
  const auto [at, is_new] = index_.try_emplace(key, static_cast<uint32_t>(totals_.size()));
  changed_.insert(at->second);
  if (!is_new) return totals_[at->second];
  proto::HookCalls& row = totals_.emplace_back();
  row.set_hook(std::get<0>(key));
  row.set_thread(std::get<1>(key));
  row.set_node(std::get<2>(key));
  row.set_position_unknown(std::get<3>(key));
  row.set_caller(std::get<4>(key));
  for (const uint32_t hook : std::get<Jumped>(key)) {
    if (hook != 0) row.add_jumped(hook);
  }
  return row;
}

void HookSource::Add(const HookRow& counted) {
  const HookCaller& caller = counted.caller;
  const uint32_t hook = HookOf(caller.placement);
  if (hook == 0) return;  // of an earlier recording
  const bool has_node = caller.position_known && node_number_ != nullptr;
  const uint32_t node = has_node ? node_number_(caller.node, 0) : 0;
  const bool unknown = !caller.position_known && caller.java_tid != 0;
  const bool has_room = totals_.size() < kMaxRows;
  const uint64_t address = has_room ? caller.address : 0;
  const Jumped jumped = has_room ? JumpedOf(caller) : Jumped();
  proto::HookCalls& row = Total({hook, ThreadOf(caller), node, unknown, address, jumped});
  row.set_calls(row.calls() + counted.calls);
  if (counted.timed == 0) return;
  row.set_min_ns(row.timed() == 0 ? counted.min_ns : std::min(row.min_ns(), counted.min_ns));
  row.set_timed(row.timed() + counted.timed);
  row.set_total_ns(row.total_ns() + counted.total_ns);
  row.set_max_ns(std::max(row.max_ns(), counted.max_ns));
}

// Calls of threads whose table was full: the number is exact, the caller unknown.
void HookSource::AddUnattributed() {
  for (auto& [site, calls] : unattributed_) {
    const uint64_t now = hooks_.CallsOf(site).unattributed;
    if (now == calls.reported) continue;
    proto::HookCalls& row = Total({calls.hook, ThreadOf({}), 0, false, 0, {}});
    row.set_calls(row.calls() + (now - std::exchange(calls.reported, now)));
  }
}

void HookSource::Poll(proto::Chunk&) {
  hooks_.EnsureTrapHandler();
  ReadPlacedHooks();
  if (known_.empty()) return;
  reader_.Drain([this](const HookRow& row) { Add(row); });
  reader_.ForEachWantedReturn([this](uintptr_t address) { hooks_.PlaceReturnSite(address); });
}

void HookSource::Define(proto::Chunk& chunk) {
  for (; defined_ < known_.size(); ++defined_) {
    const PlacedHook& placed = known_[defined_];
    proto::Hook* const hook = chunk.add_hook();
    hook->set_id(static_cast<uint32_t>(defined_ + 1));
    hook->set_name(encoder_.String(placed.name));
    hook->set_address(placed.address);
    hook->set_kind(KindOf(placed.kind));
    hook->set_pattern(encoder_.String(placed.pattern));
  }
}

void HookSource::ReportLosses() {
  losses_.Set("hook.unwind_missed", Severity::kWarning,
              native_hooks::hook_counters.unwinds_missed.load() - unwinds_missed_before_,
              "unwinds of hooks that were not taken: their threads were not sampled, or the rings "
              "full",
              "fewer of them: hook=…:count");
  losses_.Set("hook.untimed_open", Severity::kWarning,
              native_hooks::hook_counters.open_dropped.load() - open_dropped_before_,
              "calls without a time: too many calls of timed functions were open in a thread");
  losses_.Set("hook.left", Severity::kInfo,
              native_hooks::hook_counters.unwound_calls.load() - unwound_calls_before_,
              "calls that longjmp or an exception left: their times last until their thread's next "
              "timed call or return");
}

void HookSource::AddChanges(uint64_t, proto::Chunk& chunk) {
  hooks_.RefreshHooks();
  Poll(chunk);
  if (known_.empty()) return;
  AddUnattributed();
  reader_.Recycle();
  ReportLosses();
  Define(chunk);
  for (const uint32_t at : changed_) *chunk.add_hook_calls() = totals_[at];
  changed_.clear();
}

void HookSource::EndFile(bool is_last, proto::Chunk& chunk) {
  // Waits until threads that are in the handler now have counted, before the file ends.
  constexpr int kMaxTries = 500;
  constexpr timespec kMoment = {0, 1'000'000};
  for (int i = 0; is_last && i < kMaxTries; ++i) {
    Poll(chunk);
    if (!reader_.has_left()) return;
    nanosleep(&kMoment, nullptr);
  }
}

void HookSource::BeginFile() {
  defined_ = 0;
  totals_.clear();
  index_.clear();
  changed_.clear();
}

void HookRowReader::Drain(absl::FunctionRef<void(const HookRow&)> take) {
  has_left_ = false;
  for (HookThread& thread : Threads()) {
    // First the rows that an earlier call had to leave, then those counted since.
    for (int i = 0; i < 2; ++i) {
      if (!thread.is_pending && IsEmpty(thread.rows[thread.active.load()])) break;
      if (!SwapRows(thread)) {
        has_left_ = true;
        break;
      }
      ReadRows(thread, take);
    }
  }
}

void HookRowReader::ForEachWantedReturn(absl::FunctionRef<void(uintptr_t)> take) {
  for (HookThread& thread : Threads()) {
    if (thread.wanted_return.load(std::memory_order_relaxed) == 0) continue;
    if (const uintptr_t address = thread.wanted_return.exchange(0); address != 0) take(address);
  }
}

void HookRowReader::Recycle() {
  for (HookThread& thread : Threads()) {
    if (thread.os_tid.load() == 0 || thread.is_pending || !HasEnded(thread)) continue;
    if (!IsEmpty(thread.rows[thread.active.load()])) continue;  // Drain has not read them yet
    thread.open_count = 0;
    thread.hits_without_slot = 0;
    thread.wanted_return.store(0);
    thread.os_tid.store(0);
    free_hook_threads.fetch_add(1);
  }
}

}  // namespace jtrace::native_hooks
