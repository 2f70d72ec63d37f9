#include "agent/writer/record_encoder.h"

#include <algorithm>
#include <utility>

namespace jtrace::writer {
namespace {

// What an entry takes in a serialised chunk, roughly; only for sealing in time.
constexpr size_t kEventBytes = 16;
constexpr size_t kDefinitionBytes = 8;

// A class by name and loader.
void Define(uint32_t id, const std::pair<uint32_t, uint32_t>& key, proto::ClassDef& definition) {
  definition.set_id(id);
  definition.set_name(key.first);
  definition.set_loader(key.second);
}

// A routine or a method by class, name and descriptor.
template <typename Key, typename Definition>
void DefineMember(uint32_t id, const Key& key, Definition& definition) {
  definition.set_id(id);
  definition.set_class_id(std::get<0>(key));
  definition.set_name(std::get<1>(key));
  definition.set_descriptor(std::get<2>(key));
}

void Define(uint32_t id, const std::tuple<uint32_t, uint32_t, uint32_t>& key,
            proto::Method& definition) {
  DefineMember(id, key, definition);
}

void Define(uint32_t id, const std::tuple<uint32_t, uint32_t, uint32_t, int, int>& key,
            proto::Routine& definition) {
  DefineMember(id, key, definition);
  definition.set_kind(static_cast<proto::Routine::Kind>(std::get<3>(key)));
  definition.set_cost(static_cast<proto::Routine::Cost>(std::get<4>(key)));
}

}  // namespace

RecordEncoder::RecordEncoder(std::set<uint32_t> majors_off) : majors_off_(std::move(majors_off)) {
  strings_.emplace("", 0);
}

void RecordEncoder::SetMajorsOff(std::set<uint32_t> majors_off) {
  std::lock_guard lock(mutex_);
  majors_off_ = std::move(majors_off);
}

void RecordEncoder::BeginTrace(std::set<uint32_t> majors_off) {
  std::lock_guard lock(mutex_);
  majors_off_ = std::move(majors_off);
  threads_ = 0;
  live_threads_.clear();
  chunk_ = AllDefinitionsLocked();
  pending_bytes_ = 0;
  open_ = true;
}

void RecordEncoder::EndTrace() {
  std::lock_guard lock(mutex_);
  open_ = false;
  chunk_.Clear();
  pending_bytes_ = 0;
}

void RecordEncoder::Restate() {
  std::lock_guard lock(mutex_);
  proto::Chunk restated = AllDefinitionsLocked();
  for (const auto& [id, thread] : live_threads_) *restated.add_thread() = thread;
  restated.mutable_event()->Swap(chunk_.mutable_event());
  chunk_ = std::move(restated);
}

proto::Chunk RecordEncoder::AllDefinitionsLocked() const {
  proto::Chunk chunk;
  std::vector<absl::string_view> texts(strings_.size());
  for (const auto& [text, id] : strings_) texts[id] = text;
  chunk.set_first_string(1);
  for (size_t id = 1; id < texts.size(); ++id) chunk.add_string(std::string(texts[id]));
  for (const auto& [key, id] : classes_) Define(id, key, *chunk.add_class_def());
  for (const auto& [key, id] : routines_) Define(id, key, *chunk.add_routine());
  for (const auto& [key, id] : methods_) Define(id, key, *chunk.add_method());
  return chunk;
}

uint32_t RecordEncoder::StringLocked(absl::string_view text) {
  if (const auto found = strings_.find(text); found != strings_.end()) return found->second;
  const auto id = static_cast<uint32_t>(strings_.size());
  strings_.emplace(text, id);
  if (!open_) return id;
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
  if (inserted && open_) {
    Define(next, entry->first, *chunk_.add_class_def());
    pending_bytes_ += kDefinitionBytes;
  }
  return entry->second;
}

uint32_t RecordEncoder::RoutineId(uint32_t class_id, absl::string_view name,
                                  absl::string_view descriptor) {
  return SiteId({.class_id = class_id, .name = name, .descriptor = descriptor});
}

uint32_t RecordEncoder::SiteId(const RoutineInfo& info) {
  std::lock_guard lock(mutex_);
  const RoutineKey key(info.class_id, StringLocked(info.name), StringLocked(info.descriptor),
                       info.kind, info.cost);
  return DefineOnce(routines_, key, *chunk_.mutable_routine());
}

uint32_t RecordEncoder::FindRoutine(uint32_t class_id, absl::string_view name,
                                    absl::string_view descriptor) const {
  std::lock_guard lock(mutex_);
  const auto name_id = strings_.find(name);
  const auto descriptor_id = strings_.find(descriptor);
  if (name_id == strings_.end() || descriptor_id == strings_.end()) return 0;
  const auto found =
      routines_.find(RoutineKey(class_id, name_id->second, descriptor_id->second,
                                proto::Routine::METHOD, proto::Routine::UNCLASSIFIED));
  return found != routines_.end() ? found->second : 0;
}

uint32_t RecordEncoder::MethodId(uint32_t class_id, absl::string_view name,
                                 absl::string_view descriptor) {
  std::lock_guard lock(mutex_);
  const MemberKey key(class_id, StringLocked(name), StringLocked(descriptor));
  return DefineOnce(methods_, key, *chunk_.mutable_method());
}

// Routines and methods are defined alike.
template <typename Map, typename Definition>
uint32_t RecordEncoder::DefineOnce(Map& known, const typename Map::key_type& key,
                                   google::protobuf::RepeatedPtrField<Definition>& definitions) {
  const auto next = static_cast<uint32_t>(known.size() + 1);
  const auto [entry, inserted] = known.try_emplace(key, next);
  if (inserted && open_) {
    Define(next, key, *definitions.Add());
    pending_bytes_ += kDefinitionBytes;
  }
  return entry->second;
}

uint32_t RecordEncoder::DefineThread(const ThreadInfo& info) {
  std::lock_guard lock(mutex_);
  proto::Thread thread;
  thread.set_id(++threads_);
  thread.set_name(StringLocked(info.name));
  thread.set_os_tid(info.os_tid);
  thread.set_java_tid(info.java_tid);
  thread.set_is_virtual(info.is_virtual);
  thread.set_is_daemon(info.is_daemon);
  thread.set_is_vm_internal(info.is_vm_internal);
  if (open_) {
    *chunk_.add_thread() = thread;
    pending_bytes_ += kDefinitionBytes;
    live_threads_.emplace(threads_, std::move(thread));
  }
  return threads_;
}

void RecordEncoder::ForgetThread(uint32_t thread) {
  std::lock_guard lock(mutex_);
  live_threads_.erase(thread);
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
  std::lock_guard lock(mutex_);
  if (!Wanted(event.major)) return;
  EventLocked(event);
}

void RecordEncoder::AddClassEvent(const EventRecord& event, proto::ClassEvent details) {
  std::lock_guard lock(mutex_);
  if (!Wanted(event.major)) return;
  pending_bytes_ += details.method_size() * 2 + details.jitted_address_size() * 9;
  *EventLocked(event)->mutable_class_event() = std::move(details);
}

void RecordEncoder::AddCodeEvent(const EventRecord& event, proto::CodeEvent details) {
  std::lock_guard lock(mutex_);
  if (!Wanted(event.major)) return;
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
