#include "agent/trace/record_split.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <limits>

#include "proto/trace_format.h"

namespace jtrace::trace {
namespace {

using google::protobuf::io::CodedOutputStream;

// Thread, time, and the headers of both columns.
constexpr size_t kLogHead = 6 * kFieldHeader;
// An index into the frames of a part.
constexpr size_t kFrameIndex = 5;

size_t SizeOf(uint64_t value) { return CodedOutputStream::VarintSize64(value); }

}  // namespace

RecordSplitter::RecordSplitter(proto::Chunk& whole, ChunkParts& parts) : parts_(parts) {
  events_.Swap(whole.mutable_event());
  samples_.Swap(whole.mutable_sample());
  frames_.Swap(whole.mutable_frame());
  all_logs_.Swap(whole.mutable_log());
  places_.resize(static_cast<size_t>(frames_.size()));
  for (const proto::EventLog& log : all_logs_) {
    if (log.op_size() == 0) continue;
    auto [entry, is_new] = logs_.try_emplace(log.thread());
    if (is_new) log_threads_.push_back(log.thread());
    entry->second.logs.push_back(&log);
  }
  for (auto& [thread, logs] : logs_) BeginLog(logs);
  SortRecords();
}

void RecordSplitter::SortRecords() {
  absl::flat_hash_map<uint32_t, uint64_t> latest;  // of the thread's events
  for (int i = 0; i < events_.size(); ++i) {
    const proto::Event& event = events_.Get(i);
    uint64_t& time = latest[event.thread()];
    // Events of no thread have no order.
    time = event.thread() == 0 ? event.time_ns() : std::max(time, event.time_ns());
    items_.push_back({time, event.thread(), i, -1});
  }
  for (int i = 0; i < samples_.size(); ++i) {
    items_.push_back({samples_.Get(i).time_ns(), samples_.Get(i).thread(), -1, i});
  }
  std::stable_sort(items_.begin(), items_.end(),
                   [](const Item& a, const Item& b) { return a.time < b.time; });
}

void RecordSplitter::TakeAll() {
  for (const Item& item : items_) {
    if (const auto logs = logs_.find(item.thread); logs != logs_.end()) {
      TakeLogs(logs->second, item.time);
    }
    if (item.sample >= 0) {
      TakeSample(*samples_.Mutable(item.sample));
      continue;
    }
    proto::Event& event = *events_.Mutable(item.event);
    proto::Chunk* part = parts_.For(event.ByteSizeLong() + kFieldHeader);
    if (part != nullptr) part->add_event()->Swap(&event);
  }
  for (const uint32_t thread : log_threads_) {
    TakeLogs(logs_[thread], std::numeric_limits<uint64_t>::max());
  }
}

// ---- Logs
// ----------------------------------------------------------------------------------------

void RecordSplitter::BeginLog(Logs& logs) {
  if (logs.next == logs.logs.size()) return;
  const proto::EventLog& log = *logs.logs[logs.next];
  logs.op = 0;
  logs.time = log.time_ns() + (log.delta_ns_size() > 0 ? log.delta_ns(0) : 0);
  logs.into = nullptr;
}

void RecordSplitter::TakeLogs(Logs& logs, uint64_t until) {
  while (logs.next < logs.logs.size() && logs.time <= until) TakeOps(logs);
}

void RecordSplitter::TakeOps(Logs& logs) {
  const proto::EventLog& log = *logs.logs[logs.next];
  const bool is_mark = log.op(logs.op) < format::kLogFirstCall;
  const int ops = std::min(is_mark ? 2 : 1, log.op_size() - logs.op);
  const bool has_times = log.delta_ns_size() > 0;
  size_t bytes = 0;
  for (int i = 0; i < ops; ++i) bytes += SizeOf(log.op(logs.op + i));
  if (has_times) bytes += SizeOf(logs.time - logs.last) + 1;
  const bool goes_on =
      logs.into != nullptr && logs.part == parts_.number() && parts_.HasRoom(bytes);
  proto::Chunk* part = parts_.For(goes_on ? bytes : bytes + kLogHead);
  if (part == nullptr) return Step(logs, ops);
  if (!goes_on) {
    logs.into = part->add_log();
    logs.part = parts_.number();
    logs.into->set_thread(log.thread());
    logs.into->set_time_ns(logs.time);
    logs.last = logs.time;
  }
  for (int i = 0; i < ops; ++i) {
    logs.into->add_op(log.op(logs.op));
    if (has_times) logs.into->add_delta_ns(logs.time - logs.last);
    logs.last = logs.time;
    Step(logs, 1);
  }
}

void RecordSplitter::Step(Logs& logs, int ops) {
  const proto::EventLog& log = *logs.logs[logs.next];
  for (; ops > 0; --ops) {
    if (++logs.op < log.delta_ns_size()) logs.time += log.delta_ns(logs.op);
  }
  if (logs.op < log.op_size()) return;
  ++logs.next;
  BeginLog(logs);
}

// ---- Samples
// -------------------------------------------------------------------------------------

size_t RecordSplitter::BytesOfNewFrames(const proto::Sample& sample) const {
  size_t bytes = 0;
  for (const uint32_t frame : sample.frame()) {
    if (frame >= places_.size() || places_[frame].part == parts_.number()) continue;
    bytes += frames_.Get(static_cast<int>(frame)).ByteSizeLong() + kFieldHeader;
  }
  return bytes;
}

void RecordSplitter::TakeSample(proto::Sample& sample) {
  const size_t own =
      sample.ByteSizeLong() + kFieldHeader + kFrameIndex * static_cast<size_t>(sample.frame_size());
  if (!parts_.HasRoom(own + BytesOfNewFrames(sample))) parts_.Flush();
  proto::Chunk* part = parts_.For(own + BytesOfNewFrames(sample));
  if (part == nullptr) return;
  for (uint32_t& frame : *sample.mutable_frame()) frame = FrameInPart(frame, *part);
  part->add_sample()->Swap(&sample);
}

uint32_t RecordSplitter::FrameInPart(uint32_t frame, proto::Chunk& part) {
  if (frame >= places_.size()) return frame;
  Place& place = places_[frame];
  if (place.part != parts_.number()) {
    place = {parts_.number(), static_cast<uint32_t>(part.frame_size())};
    *part.add_frame() = frames_.Get(static_cast<int>(frame));
  }
  return place.number;
}

}  // namespace jtrace::trace
