#include "agent/trace/record_encoder.h"

#include <exception>
#include <new>
#include <utility>

#include "proto/trace_format.h"

namespace jtrace::trace {
namespace {

// The approximate size of an event in a serialised chunk; only for sealing in time.
constexpr size_t kEventBytes = 16;

}  // namespace

RecordEncoder::Lock::Lock(const RecordEncoder& encoder)
    : lock_(encoder.mutex_),
      is_broken_(encoder.is_broken_),
      exceptions_(std::uncaught_exceptions()) {
  if (is_broken_) throw std::bad_alloc();
}

RecordEncoder::Lock::~Lock() {
  if (std::uncaught_exceptions() > exceptions_) is_broken_ = true;
}

RecordEncoder::RecordEncoder(const EventCodeSet& codes) : codes_(codes) {
  definitions_.DefineInto(&chunk_);
}

void RecordEncoder::SetCodes(const EventCodeSet& codes) {
  const Lock lock(*this);
  codes_ = codes;
}

void RecordEncoder::BeginTrace(const EventCodeSet& codes) {
  const Lock lock(*this);
  codes_ = codes;
  threads_ = 0;
  for (const auto& [id, thread] : live_threads_) definitions_.Release(thread.name());
  live_threads_.clear();
  chunk_.Clear();
  BeginFileLocked();
  event_bytes_ = 0;
  open_ = true;
  definitions_.DefineInto(&chunk_);
}

void RecordEncoder::EndTrace() {
  const Lock lock(*this);
  open_ = false;
  definitions_.DefineInto(nullptr);
  chunk_.Clear();
  event_bytes_ = 0;
}

void RecordEncoder::BeginFile() {
  const Lock lock(*this);
  BeginFileLocked();
}

void RecordEncoder::BeginFileLocked() {
  proto::Chunk restated;
  const auto strings = definitions_.BeginFile(restated);
  for (auto& [id, thread] : live_threads_) {
    thread.set_name(strings.at(thread.name()));
    *restated.add_thread() = thread;
  }
  for (proto::Event& event : *chunk_.mutable_event()) {
    const auto found = strings.find(event.text());
    event.set_text(found != strings.end() ? found->second : 0);
  }
  restated.mutable_event()->Swap(chunk_.mutable_event());
  chunk_ = std::move(restated);
  for (const proto::Event& event : chunk_.event()) {
    DefineNamesOf(event);
  }
  defined_before_ = definitions_.bytes();
}

uint32_t RecordEncoder::String(absl::string_view text) {
  const Lock lock(*this);
  return definitions_.String(text);
}

uint32_t RecordEncoder::ClassNumber(absl::string_view binary_name, uint32_t loader) {
  const Lock lock(*this);
  return definitions_.Class(binary_name, loader);
}

uint32_t RecordEncoder::RoutineNumber(uint32_t class_id, absl::string_view name,
                                      absl::string_view descriptor) {
  return RoutineNumber({.class_id = class_id, .name = name, .descriptor = descriptor});
}

uint32_t RecordEncoder::RoutineNumber(const RoutineInfo& info, bool is_foreign) {
  const Lock lock(*this);
  if (is_foreign) definitions_.KeepClass(info.class_id);
  return definitions_.Routine(info);
}

RecordEncoder::MethodNumbers RecordEncoder::MethodIdsOf(uint32_t class_id, absl::string_view name,
                                                        absl::string_view descriptor) {
  const Lock lock(*this);
  const uint32_t method = definitions_.Method(class_id, name, descriptor);
  return {method, definitions_.RoutineOf(method)};
}

uint32_t RecordEncoder::MethodNumber(uint32_t class_id, absl::string_view name,
                                     absl::string_view descriptor) {
  const Lock lock(*this);
  return definitions_.Method(class_id, name, descriptor);
}

bool RecordEncoder::IsMethod(uint32_t routine) {
  const Lock lock(*this);
  return definitions_.IsMethod(routine);
}

void RecordEncoder::ForEachRoutine(absl::FunctionRef<void(uint32_t, const RoutineText&)> visit) {
  const Lock lock(*this);
  definitions_.ForEachRoutine(visit);
}

void RecordEncoder::DefineRoutines(absl::Span<const uint32_t> routines) {
  const Lock lock(*this);
  for (const uint32_t routine : routines) definitions_.DefineRoutine(routine);
}

void RecordEncoder::DefineMethod(uint32_t method) {
  const Lock lock(*this);
  definitions_.DefineMethod(method);
}

void RecordEncoder::DefineClass(uint32_t class_id) {
  const Lock lock(*this);
  definitions_.DefineClass(class_id);
}

void RecordEncoder::DefineLabels(uint32_t id, const Labels& labels) {
  const Lock lock(*this);
  definitions_.DefineLabels(id, labels);
}

void RecordEncoder::DefineRoutinesOf(const absl::flat_hash_set<uint32_t>& classes) {
  const Lock lock(*this);
  definitions_.DefineRoutinesOf(classes);
}

uint32_t RecordEncoder::DefineThread(const ThreadInfo& info) {
  const Lock lock(*this);
  proto::Thread thread;
  thread.set_id(++threads_);
  thread.set_os_tid(info.os_tid);
  thread.set_java_tid(info.java_tid);
  thread.set_is_virtual(info.is_virtual);
  thread.set_is_daemon(info.is_daemon);
  thread.set_is_vm_internal(info.is_vm_internal);
  if (open_) {
    thread.set_name(definitions_.RetainString(info.name));
    *chunk_.add_thread() = thread;
    event_bytes_ += kEventBytes;
    live_threads_.emplace(threads_, std::move(thread));
  }
  return threads_;
}

void RecordEncoder::ForgetThread(uint32_t thread) {
  const Lock lock(*this);
  const auto found = live_threads_.find(thread);
  if (found == live_threads_.end()) return;
  definitions_.Release(found->second.name());
  live_threads_.erase(found);
}

std::vector<ForgottenClass> RecordEncoder::Forget(const absl::flat_hash_set<uint32_t>& classes,
                                                  const absl::flat_hash_set<uint32_t>& loaders) {
  const Lock lock(*this);
  return definitions_.Forget(classes, loaders);
}

proto::Event* RecordEncoder::AddEventLocked(const EventRecord& event) {
  proto::Event* record = chunk_.add_event();
  record->set_time_ns(event.time_ns);
  record->set_thread(event.thread);
  record->set_major(event.major);
  record->set_minor(event.minor);
  record->set_value(event.value);
  if (!event.text.empty()) record->set_text(definitions_.String(event.text));
  event_bytes_ += kEventBytes;
  return record;
}

bool RecordEncoder::Wants(uint32_t major, uint32_t minor) const {
  const Lock lock(*this);
  return open_ && codes_.HasRecord(major, minor);
}

void RecordEncoder::AddEvent(const EventRecord& event) {
  const Lock lock(*this);
  if (!Wanted(event)) return;
  AddEventLocked(event);
}

void RecordEncoder::AddClassEvent(const EventRecord& event, proto::ClassEvent details) {
  const Lock lock(*this);
  if (!Wanted(event)) return;
  event_bytes_ += details.method_size() * 2 + details.jitted_address_size() * 9;
  proto::Event* const record = AddEventLocked(event);
  *record->mutable_class_event() = std::move(details);
  DefineNamesOf(*record);
}

void RecordEncoder::AddCodeEvent(const EventRecord& event, proto::CodeEvent details) {
  const Lock lock(*this);
  if (!Wanted(event)) return;
  event_bytes_ += kEventBytes + 4 * static_cast<size_t>(details.inlined_size()) +
                  3 * static_cast<size_t>(details.pc_size());
  proto::Event* const record = AddEventLocked(event);
  *record->mutable_code_event() = std::move(details);
  DefineNamesOf(*record);
}

void RecordEncoder::DefineNamesOf(const proto::Event& event) {
  const auto define_routine = [this](uint32_t routine) {
    if (routine != 0) definitions_.DefineRoutine(routine);
  };
  if (event.has_class_event()) {
    definitions_.DefineClass(event.class_event().class_id());
    if (event.minor() != format::kClassMethod) return;
    for (const uint32_t method : event.class_event().method()) definitions_.DefineMethod(method);
  } else if (event.has_code_event()) {
    definitions_.DefineMethod(event.code_event().method());
    for (const uint32_t method : event.code_event().inlined()) definitions_.DefineMethod(method);
  } else if (event.has_wait_event()) {
    define_routine(event.wait_event().routine());
    define_routine(event.wait_event().by_routine());
  } else if (event.has_allocation_event()) {
    define_routine(event.allocation_event().routine());
  }
}

void RecordEncoder::AddWaitEvent(const EventRecord& event, const proto::WaitEvent& details) {
  const Lock lock(*this);
  if (!Wanted(event)) return;
  event_bytes_ += kEventBytes;
  proto::Event* const record = AddEventLocked(event);
  proto::WaitEvent& wait = *record->mutable_wait_event();
  wait = details;
  DefineNamesOf(*record);
  // The thread that gave a permit may have ended long before another one took it.
  if (!live_threads_.contains(details.by_thread())) wait.set_by_thread(0);
}

void RecordEncoder::AddAllocationEvent(const EventRecord& event,
                                       const proto::AllocationEvent& details) {
  const Lock lock(*this);
  if (!Wanted(event)) return;
  event_bytes_ += kEventBytes;
  proto::Event* const record = AddEventLocked(event);
  *record->mutable_allocation_event() = details;
  DefineNamesOf(*record);
}

uint64_t RecordEncoder::routines() const {
  const Lock lock(*this);
  return definitions_.last_routine();
}

size_t RecordEncoder::classes() const {
  const Lock lock(*this);
  return definitions_.classes();
}

size_t RecordEncoder::pending_bytes() const {
  const Lock lock(*this);
  return event_bytes_ + definitions_.bytes() - defined_before_;
}

proto::Chunk RecordEncoder::Take() {
  const Lock lock(*this);
  event_bytes_ = 0;
  defined_before_ = definitions_.bytes();
  return std::exchange(chunk_, proto::Chunk());
}

}  // namespace jtrace::trace
