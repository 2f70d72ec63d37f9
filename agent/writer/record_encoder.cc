#include "agent/writer/record_encoder.h"

#include <utility>

namespace jtrace::writer {
namespace {

// What an entry takes in a serialised chunk, roughly; only for sealing in time.
constexpr size_t kEventBytes = 16;
constexpr size_t kDefinitionBytes = 8;

}  // namespace

RecordEncoder::RecordEncoder(std::set<uint32_t> majors_off) : majors_off_(std::move(majors_off)) {
  strings_.emplace("", 0);
}

uint32_t RecordEncoder::StringLocked(absl::string_view text) {
  if (const auto found = strings_.find(text); found != strings_.end()) return found->second;
  const auto id = static_cast<uint32_t>(strings_.size());
  strings_.emplace(text, id);
  if (chunk_.string_size() == 0) chunk_.set_first_string(id);
  chunk_.add_string(std::string(text));
  pending_bytes_ += text.size() + 2;
  return id;
}

uint32_t RecordEncoder::String(absl::string_view text) {
  std::lock_guard lock(mutex_);
  return StringLocked(text);
}

uint32_t RecordEncoder::ClassId(absl::string_view binary_name, uint32_t loader) {
  std::lock_guard lock(mutex_);
  const uint32_t name = StringLocked(binary_name);
  const auto next = static_cast<uint32_t>(classes_.size() + 1);
  const auto [entry, inserted] = classes_.try_emplace({name, loader}, next);
  if (inserted) {
    proto::ClassDef* definition = chunk_.add_class_def();
    definition->set_id(next);
    definition->set_name(name);
    definition->set_loader(loader);
    pending_bytes_ += kDefinitionBytes;
  }
  return entry->second;
}

uint32_t RecordEncoder::RoutineId(uint32_t class_id, absl::string_view name,
                                  absl::string_view descriptor) {
  std::lock_guard lock(mutex_);
  const MemberKey key(class_id, StringLocked(name), StringLocked(descriptor));
  return DefineOnce(routines_, key, *chunk_.mutable_routine());
}

uint32_t RecordEncoder::FindRoutine(uint32_t class_id, absl::string_view name,
                                    absl::string_view descriptor) const {
  std::lock_guard lock(mutex_);
  const auto name_id = strings_.find(name);
  const auto descriptor_id = strings_.find(descriptor);
  if (name_id == strings_.end() || descriptor_id == strings_.end()) return 0;
  const auto found = routines_.find(MemberKey(class_id, name_id->second, descriptor_id->second));
  return found != routines_.end() ? found->second : 0;
}

uint32_t RecordEncoder::MethodId(uint32_t class_id, absl::string_view name,
                                 absl::string_view descriptor) {
  std::lock_guard lock(mutex_);
  const MemberKey key(class_id, StringLocked(name), StringLocked(descriptor));
  return DefineOnce(methods_, key, *chunk_.mutable_method());
}

// Routines and methods are defined alike.
template <typename Definition>
uint32_t RecordEncoder::DefineOnce(MemberMap& known, const MemberKey& key,
                                   google::protobuf::RepeatedPtrField<Definition>& definitions) {
  const auto next = static_cast<uint32_t>(known.size() + 1);
  const auto [entry, inserted] = known.try_emplace(key, next);
  if (inserted) {
    Definition* definition = definitions.Add();
    definition->set_id(next);
    definition->set_class_id(std::get<0>(key));
    definition->set_name(std::get<1>(key));
    definition->set_descriptor(std::get<2>(key));
    pending_bytes_ += kDefinitionBytes;
  }
  return entry->second;
}

uint32_t RecordEncoder::DefineThread(const ThreadInfo& info) {
  std::lock_guard lock(mutex_);
  proto::Thread* thread = chunk_.add_thread();
  thread->set_id(++threads_);
  thread->set_name(StringLocked(info.name));
  thread->set_os_tid(info.os_tid);
  thread->set_java_tid(info.java_tid);
  thread->set_is_virtual(info.is_virtual);
  thread->set_is_daemon(info.is_daemon);
  thread->set_is_vm_internal(info.is_vm_internal);
  pending_bytes_ += kDefinitionBytes;
  return threads_;
}

proto::Event* RecordEncoder::EventLocked(const EventRecord& event) {
  proto::Event* record = chunk_.add_event();
  record->set_time_ns(event.time_ns);
  record->set_thread(event.thread);
  record->set_major(event.major);
  record->set_minor(event.minor);
  record->set_value(event.value);
  if (!event.text.empty()) record->set_text(StringLocked(event.text));
  pending_bytes_ += kEventBytes;
  return record;
}

void RecordEncoder::AddEvent(const EventRecord& event) {
  if (majors_off_.contains(event.major)) return;
  std::lock_guard lock(mutex_);
  EventLocked(event);
}

void RecordEncoder::AddClassEvent(const EventRecord& event, proto::ClassEvent details) {
  if (majors_off_.contains(event.major)) return;
  std::lock_guard lock(mutex_);
  pending_bytes_ += details.method_size() * 2 + details.jitted_address_size() * 9;
  *EventLocked(event)->mutable_class_event() = std::move(details);
}

void RecordEncoder::AddCodeEvent(const EventRecord& event, proto::CodeEvent details) {
  if (majors_off_.contains(event.major)) return;
  std::lock_guard lock(mutex_);
  pending_bytes_ += kEventBytes + details.inlined_size() * 4 + details.pc_size() * 3;
  *EventLocked(event)->mutable_code_event() = std::move(details);
}

uint64_t RecordEncoder::routines() const {
  std::lock_guard lock(mutex_);
  return routines_.size();
}

size_t RecordEncoder::pending_bytes() const {
  std::lock_guard lock(mutex_);
  return pending_bytes_;
}

proto::Chunk RecordEncoder::Take() {
  std::lock_guard lock(mutex_);
  pending_bytes_ = 0;
  return std::exchange(chunk_, proto::Chunk());
}

}  // namespace jtrace::writer
