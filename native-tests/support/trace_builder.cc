#include "native-tests/support/trace_builder.h"

#include <zlib.h>
#include <zstd.h>

namespace jtrace::testing {
namespace {

void AppendU32(std::string& out, uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<char>(value >> shift));
}

}  // namespace

std::string FileHeader(uint32_t version) {
  std::string header(format::kMagic.data(), format::kMagic.size());
  AppendU32(header, version);
  return header;
}

std::string MakeFrame(std::string_view payload) {
  std::string compressed(ZSTD_compressBound(payload.size()), '\0');
  compressed.resize(ZSTD_compress(compressed.data(), compressed.size(), payload.data(),
                                  payload.size(), /*compressionLevel=*/1));
  std::string frame;
  AppendU32(frame, format::kFrameMark);
  AppendU32(frame, static_cast<uint32_t>(compressed.size()));
  AppendU32(frame, static_cast<uint32_t>(payload.size()));
  AppendU32(frame, static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(compressed.data()),
                                               static_cast<uInt>(compressed.size()))));
  return frame + compressed;
}

void TraceBuilder::Seal() {
  chunk_.set_sequence(++sequence_);
  bytes_ += MakeFrame(chunk_.SerializeAsString());
  chunk_.Clear();
}

std::string TraceBuilder::Finish() {
  if (chunk_.ByteSizeLong() > 0) Seal();
  return bytes_;
}

uint32_t TraceBuilder::String(std::string_view text) {
  if (chunk_.string_size() == 0) chunk_.set_first_string(strings_ + 1);
  chunk_.add_string(std::string(text));
  return ++strings_;
}

uint32_t TraceBuilder::Class(std::string_view name, uint32_t loader) {
  proto::ClassDef& added = *chunk_.add_class_def();
  added.set_id(++classes_);
  added.set_name(String(name));
  added.set_loader(loader);
  return classes_;
}

uint32_t TraceBuilder::Routine(uint32_t class_id, std::string_view name,
                               std::string_view descriptor) {
  proto::Routine& added = *chunk_.add_routine();
  added.set_id(++routines_);
  added.set_class_id(class_id);
  added.set_name(String(name));
  added.set_descriptor(String(descriptor));
  return routines_;
}

uint32_t TraceBuilder::Method(uint32_t class_id, std::string_view name,
                              std::string_view descriptor) {
  proto::Method& added = *chunk_.add_method();
  added.set_id(++methods_);
  added.set_class_id(class_id);
  added.set_name(String(name));
  added.set_descriptor(String(descriptor));
  return methods_;
}

uint32_t TraceBuilder::Thread(std::string_view name, int64_t os_tid, int64_t java_tid) {
  proto::Thread& added = *chunk_.add_thread();
  added.set_id(++threads_);
  added.set_name(String(name));
  added.set_os_tid(os_tid);
  added.set_java_tid(java_tid);
  added.set_is_virtual(os_tid == 0);
  return threads_;
}

void TraceBuilder::Rename(uint32_t thread, std::string_view name, int64_t os_tid) {
  proto::Thread& added = *chunk_.add_thread();
  added.set_id(thread);
  added.set_name(String(name));
  added.set_os_tid(os_tid);
}

uint32_t TraceBuilder::Node(uint32_t thread, uint32_t parent, uint32_t routine) {
  proto::TreeDelta& delta = *chunk_.add_tree();
  delta.set_thread(thread);
  delta.add_new_node(static_cast<int32_t>(++nodes_));
  delta.add_new_parent(parent);
  delta.add_new_routine(routine);
  return nodes_;
}

void TraceBuilder::Count(uint32_t thread, uint32_t node, uint64_t calls, uint64_t jitted) {
  proto::TreeDelta& delta = *chunk_.add_tree();
  delta.set_thread(thread);
  delta.add_node(static_cast<int32_t>(node));
  delta.add_calls(calls);
  delta.add_jitted(jitted);
}

void TraceBuilder::FlatCount(uint32_t thread, uint32_t routine, uint64_t calls, uint64_t jitted) {
  proto::TreeDelta& delta = *chunk_.add_tree();
  delta.set_thread(thread);
  delta.add_routine(static_cast<int32_t>(routine));
  delta.add_routine_calls(calls);
  delta.add_routine_jitted(jitted);
}

uint32_t TraceBuilder::Frame(proto::Frame::Kind kind, uint64_t value) {
  proto::Frame& added = *chunk_.add_frame();
  added.set_kind(kind);
  added.set_value(value);
  return static_cast<uint32_t>(chunk_.frame_size() - 1);
}

proto::Sample& TraceBuilder::Sample(uint64_t time, uint32_t thread, uint32_t node,
                                    std::initializer_list<uint32_t> frames) {
  proto::Sample& added = *chunk_.add_sample();
  added.set_time_ns(time);
  added.set_thread(thread);
  added.set_node(node);
  for (const uint32_t frame : frames) added.add_frame(frame);
  return added;
}

uint32_t TraceBuilder::Hook(std::string_view name, uint64_t address, proto::Hook::Kind kind,
                            std::string_view pattern) {
  proto::Hook& added = *chunk_.add_hook();
  added.set_id(++hooks_);
  added.set_name(String(name));
  added.set_address(address);
  added.set_kind(kind);
  if (!pattern.empty()) added.set_pattern(String(pattern));
  return hooks_;
}

proto::HookCalls& TraceBuilder::HookCalls(uint32_t hook, uint32_t thread, uint32_t node,
                                          uint64_t caller, uint64_t calls) {
  proto::HookCalls& added = *chunk_.add_hook_calls();
  added.set_hook(hook);
  added.set_thread(thread);
  added.set_node(node);
  added.set_caller(caller);
  added.set_calls(calls);
  return added;
}

proto::Event& TraceBuilder::Event(uint64_t time, uint32_t thread, uint32_t major, uint32_t minor,
                                  int64_t value) {
  proto::Event& added = *chunk_.add_event();
  added.set_time_ns(time);
  added.set_thread(thread);
  added.set_major(major);
  added.set_minor(minor);
  added.set_value(value);
  return added;
}

}  // namespace jtrace::testing
