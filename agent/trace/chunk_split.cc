#include "agent/trace/chunk_split.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "proto/trace_format.h"

namespace jtrace::trace {

using google::protobuf::RepeatedPtrField;
using google::protobuf::io::CodedOutputStream;

namespace {

// The sequence number and time of each part.
constexpr size_t kPartHead = 3 * kFieldHeader;

// Moves messages that are independent of each other.
template <typename Message>
void Take(RepeatedPtrField<Message>& from, RepeatedPtrField<Message>* (proto::Chunk::*into)(),
          ChunkParts& parts) {
  for (Message& it : from) {
    proto::Chunk* part = parts.For(it.ByteSizeLong() + kFieldHeader);
    if (part != nullptr) (part->*into)()->Add()->Swap(&it);
  }
  from.Clear();
}

// A string's number follows from its position, so a string that is too large is replaced by "".
void MoveStrings(proto::Chunk& whole, ChunkParts& parts) {
  uint32_t number = whole.first_string();
  for (std::string& text : *whole.mutable_string()) {
    proto::Chunk* part = parts.For(text.size() + kFieldHeader);
    if (part == nullptr) {
      text.clear();
      part = parts.For(kFieldHeader);
    }
    if (part->string_size() == 0) part->set_first_string(number);
    ++number;
    part->add_string()->swap(text);
  }
  whole.clear_string();
  whole.clear_first_string();
}

void MoveDefinitions(proto::Chunk& whole, ChunkParts& parts) {
  if (whole.has_session_start()) {
    proto::Chunk* part = parts.For(whole.session_start().ByteSizeLong() + kFieldHeader);
    if (part != nullptr) part->set_allocated_session_start(whole.release_session_start());
  }
  MoveStrings(whole, parts);
  Take(*whole.mutable_class_def(), &proto::Chunk::mutable_class_def, parts);
  Take(*whole.mutable_routine(), &proto::Chunk::mutable_routine, parts);
  Take(*whole.mutable_method(), &proto::Chunk::mutable_method, parts);
  Take(*whole.mutable_thread(), &proto::Chunk::mutable_thread, parts);
  Take(*whole.mutable_module(), &proto::Chunk::mutable_module, parts);
  Take(*whole.mutable_hook(), &proto::Chunk::mutable_hook, parts);
  Take(*whole.mutable_method_hook(), &proto::Chunk::mutable_method_hook, parts);
  Take(*whole.mutable_label_set(), &proto::Chunk::mutable_label_set, parts);
  Take(*whole.mutable_class_code(), &proto::Chunk::mutable_class_code, parts);
  Take(*whole.mutable_method_counters(), &proto::Chunk::mutable_method_counters, parts);
  Take(*whole.mutable_block_counts(), &proto::Chunk::mutable_block_counts, parts);
}

// Moves totals, and what only the last part has.
void MoveRemainder(proto::Chunk& whole, ChunkParts& parts) {
  Take(*whole.mutable_open_activations(), &proto::Chunk::mutable_open_activations, parts);
  Take(*whole.mutable_node_blocks(), &proto::Chunk::mutable_node_blocks, parts);
  Take(*whole.mutable_hook_calls(), &proto::Chunk::mutable_hook_calls, parts);
  Take(*whole.mutable_code_total(), &proto::Chunk::mutable_code_total, parts);
  Take(*whole.mutable_loss(), &proto::Chunk::mutable_loss, parts);
  proto::Chunk* part = parts.For(whole.ByteSizeLong() + kFieldHeader);
  if (part != nullptr) part->MergeFrom(whole);
}

void AddLoss(uint64_t count, proto::Chunk& chunk) {
  proto::Loss* loss = chunk.add_loss();
  loss->set_name("trace.too_large");
  loss->set_severity(proto::Loss::WARNING);
  loss->set_count(count);
  loss->set_what("records that are larger than a trace can hold, left out");
}

// Thread, time, and the headers of both columns.
constexpr size_t kLogHead = 6 * kFieldHeader;
// The most bytes of an index into the frames of a part.
constexpr size_t kFrameIndex = 5;

size_t SizeOf(uint64_t value) { return CodedOutputStream::VarintSize64(value); }

// Thread, number of threads, and the headers of all columns and of a metric.
constexpr size_t kMetricHead = 4 * kFieldHeader;
constexpr size_t kDeltaHead = 16 * kFieldHeader + kMetricHead;
// The most bytes of a row's difference, which is larger where a part begins.
constexpr size_t kDifference = 5;

template <typename T>
size_t SizeOf(T value) {
  return CodedOutputStream::VarintSize64(static_cast<uint64_t>(value));
}

// The size of a value in an optional column of a table.
template <typename Column>
size_t SizeAt(const Column& column, int row) {
  return row < column.size() ? SizeOf(column.Get(row)) : 0;
}
template <typename Column>
void AddAt(const Column& column, int row, Column& into) {
  if (row < column.size()) into.Add(column.Get(row));
}

}  // namespace

void ChunkSplitter::Split(proto::Chunk whole, ChunkParts::Write write) {
  if (Fits(whole)) {
    write(std::move(whole));
    return;
  }
  ChunkParts parts(limit_ - std::min(limit_, kPartHead), most_, write);
  MoveDefinitions(whole, parts);
  TreeSplitter trees(parts);
  for (proto::TreeDelta& delta : *whole.mutable_tree()) trees.Take(delta);
  whole.clear_tree();
  RecordSplitter(whole, parts).MoveAll();
  left_out_ += parts.left_out();
  if (left_out_ > 0) AddLoss(left_out_, whole);
  MoveRemainder(whole, parts);
  parts.Flush();
}

RecordSplitter::RecordSplitter(proto::Chunk& whole, ChunkParts& parts) : parts_(parts) {
  events_.Swap(whole.mutable_event());
  samples_.Swap(whole.mutable_sample());
  frames_.Swap(whole.mutable_frame());
  all_logs_.Swap(whole.mutable_log());
  moved_frames_.resize(static_cast<size_t>(frames_.size()));
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

void RecordSplitter::MoveAll() {
  for (const Item& item : items_) {
    if (const auto logs = logs_.find(item.thread); logs != logs_.end()) {
      MoveLogs(logs->second, item.time);
    }
    if (item.sample >= 0) {
      MoveSample(*samples_.Mutable(item.sample));
      continue;
    }
    proto::Event& event = *events_.Mutable(item.event);
    proto::Chunk* part = parts_.For(event.ByteSizeLong() + kFieldHeader);
    if (part != nullptr) part->add_event()->Swap(&event);
  }
  for (const uint32_t thread : log_threads_) {
    MoveLogs(logs_[thread], std::numeric_limits<uint64_t>::max());
  }
}

// ---- Logs -------------------------------------------------------------------------------------

void RecordSplitter::BeginLog(Logs& logs) {
  if (logs.next == logs.logs.size()) return;
  const proto::EventLog& log = *logs.logs[logs.next];
  logs.op = 0;
  logs.time = log.time_ns() + (log.delta_ns_size() > 0 ? log.delta_ns(0) : 0);
  logs.into = nullptr;
}

void RecordSplitter::MoveLogs(Logs& logs, uint64_t until) {
  while (logs.next < logs.logs.size() && logs.time <= until) MoveOps(logs);
}

void RecordSplitter::MoveOps(Logs& logs) {
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

// ---- Samples ----------------------------------------------------------------------------------

size_t RecordSplitter::BytesOfNewFrames(const proto::Sample& sample) const {
  size_t bytes = 0;
  for (const uint32_t frame : sample.frame()) {
    if (frame >= moved_frames_.size() || moved_frames_[frame].part == parts_.number()) continue;
    bytes += frames_.Get(static_cast<int>(frame)).ByteSizeLong() + kFieldHeader;
  }
  return bytes;
}

void RecordSplitter::MoveSample(proto::Sample& sample) {
  const size_t own =
      sample.ByteSizeLong() + kFieldHeader + kFrameIndex * static_cast<size_t>(sample.frame_size());
  if (!parts_.HasRoom(own + BytesOfNewFrames(sample))) parts_.Flush();
  proto::Chunk* part = parts_.For(own + BytesOfNewFrames(sample));
  if (part == nullptr) return;
  for (uint32_t& frame : *sample.mutable_frame()) frame = FrameInPart(frame, *part);
  part->add_sample()->Swap(&sample);
}

uint32_t RecordSplitter::FrameInPart(uint32_t frame, proto::Chunk& part) {
  if (frame >= moved_frames_.size()) return frame;
  MovedFrame& moved = moved_frames_[frame];
  if (moved.part != parts_.number()) {
    moved = {parts_.number(), static_cast<uint32_t>(part.frame_size())};
    *part.add_frame() = frames_.Get(static_cast<int>(frame));
  }
  return moved.number;
}

int32_t TreeSplitter::Coder::Next(int32_t difference) {
  read += static_cast<uint32_t>(difference);
  const auto next = static_cast<int32_t>(read - written);
  written = read;
  return next;
}

void TreeSplitter::Take(proto::TreeDelta& whole) {
  const size_t bytes = whole.ByteSizeLong() + kFieldHeader;
  if (bytes <= parts_.limit()) {
    proto::Chunk* part = parts_.For(bytes);
    if (part != nullptr) part->add_tree()->Swap(&whole);
    return;
  }
  whole_ = &whole;
  into_ = nullptr;
  // In the order in which readers take the tables of one delta.
  MoveNewNodes();
  MoveCounts();
  for (const proto::NodeMetric& metric : whole.metric()) MoveMetric(metric);
  MovePruned();
  MoveRoutines();
  if (into_ == nullptr) Row(0);  // the delta's data about the thread
  whole.Clear();
}

proto::TreeDelta* TreeSplitter::Row(size_t bytes) {
  const bool goes_on = into_ != nullptr && part_ == parts_.number() && parts_.HasRoom(bytes);
  proto::Chunk* part = parts_.For(goes_on ? bytes : bytes + kDeltaHead);
  if (part == nullptr) return nullptr;
  if (!goes_on) {
    into_ = part->add_tree();
    into_->set_thread(whole_->thread());
    into_->set_folded_threads(whole_->folded_threads());
    part_ = parts_.number();
    metric_ = nullptr;
    coder_.written = 0;
  }
  return into_;
}

void TreeSplitter::MoveNewNodes() {
  coder_ = {};
  for (int row = 0; row < whole_->new_node_size(); ++row) {
    const size_t bytes = kDifference + SizeAt(whole_->new_parent(), row) +
                         SizeAt(whole_->new_routine(), row) + SizeAt(whole_->new_place(), row);
    proto::TreeDelta* into = Row(bytes);
    if (into == nullptr) return;
    into->add_new_node(coder_.Next(whole_->new_node(row)));
    AddAt(whole_->new_parent(), row, *into->mutable_new_parent());
    AddAt(whole_->new_routine(), row, *into->mutable_new_routine());
    AddAt(whole_->new_place(), row, *into->mutable_new_place());
  }
}

void TreeSplitter::MovePruned() {
  coder_ = {};
  for (const int32_t node : whole_->pruned_node()) {
    proto::TreeDelta* into = Row(kDifference);
    if (into == nullptr) return;
    into->add_pruned_node(coder_.Next(node));
  }
}

void TreeSplitter::MoveCounts() {
  const proto::TreeDelta& from = *whole_;
  coder_ = {};
  for (int row = 0; row < from.node_size(); ++row) {
    const size_t bytes = kDifference + SizeAt(from.calls(), row) + SizeAt(from.jitted(), row) +
                         SizeAt(from.base_ns(), row) + SizeAt(from.off_ns(), row) +
                         SizeAt(from.min_base_ns(), row) + SizeAt(from.max_base_ns(), row);
    proto::TreeDelta* into = Row(bytes);
    if (into == nullptr) return;
    into->add_node(coder_.Next(from.node(row)));
    AddAt(from.calls(), row, *into->mutable_calls());
    AddAt(from.jitted(), row, *into->mutable_jitted());
    AddAt(from.base_ns(), row, *into->mutable_base_ns());
    AddAt(from.off_ns(), row, *into->mutable_off_ns());
    AddAt(from.min_base_ns(), row, *into->mutable_min_base_ns());
    AddAt(from.max_base_ns(), row, *into->mutable_max_base_ns());
  }
}

void TreeSplitter::MoveRoutines() {
  const proto::TreeDelta& from = *whole_;
  coder_ = {};
  for (int row = 0; row < from.routine_size(); ++row) {
    const size_t bytes =
        kDifference + SizeAt(from.routine_calls(), row) + SizeAt(from.routine_jitted(), row);
    proto::TreeDelta* into = Row(bytes);
    if (into == nullptr) return;
    into->add_routine(coder_.Next(from.routine(row)));
    AddAt(from.routine_calls(), row, *into->mutable_routine_calls());
    AddAt(from.routine_jitted(), row, *into->mutable_routine_jitted());
  }
}

void TreeSplitter::MoveMetric(const proto::NodeMetric& metric) {
  coder_ = {};
  metric_ = nullptr;
  for (int row = 0; row < metric.node_size(); ++row) {
    proto::TreeDelta* into =
        Row((metric_ == nullptr ? kMetricHead : 0) + kDifference + SizeAt(metric.value(), row));
    if (into == nullptr) return;
    if (metric_ == nullptr) {
      metric_ = into->add_metric();
      metric_->set_name(metric.name());
    }
    metric_->add_node(coder_.Next(metric.node(row)));
    AddAt(metric.value(), row, *metric_->mutable_value());
  }
}

}  // namespace jtrace::trace
