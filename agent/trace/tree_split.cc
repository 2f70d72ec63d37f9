#include "agent/trace/tree_split.h"

#include <google/protobuf/io/coded_stream.h>

namespace jtrace::trace {
namespace {

using google::protobuf::io::CodedOutputStream;

// Thread, number of threads, and the headers of all columns and of a metric.
constexpr size_t kMetricHead = 4 * kFieldHeader;
constexpr size_t kDeltaHead = 16 * kFieldHeader + kMetricHead;
// A row's difference. It is larger where a part begins.
constexpr size_t kDifference = 5;

template <typename T>
size_t SizeOf(T value) {
  return CodedOutputStream::VarintSize64(static_cast<uint64_t>(value));
}

// An optional column of a table.
template <typename Column>
size_t SizeAt(const Column& column, int row) {
  return row < column.size() ? SizeOf(column.Get(row)) : 0;
}
template <typename Column>
void AddAt(const Column& column, int row, Column& into) {
  if (row < column.size()) into.Add(column.Get(row));
}

}  // namespace

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
  TakeNewNodes();
  TakeCounts();
  for (const proto::NodeMetric& metric : whole.metric()) TakeMetric(metric);
  TakePruned();
  TakeRoutines();
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

void TreeSplitter::TakeNewNodes() {
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

void TreeSplitter::TakePruned() {
  coder_ = {};
  for (const int32_t node : whole_->pruned_node()) {
    proto::TreeDelta* into = Row(kDifference);
    if (into == nullptr) return;
    into->add_pruned_node(coder_.Next(node));
  }
}

void TreeSplitter::TakeCounts() {
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

void TreeSplitter::TakeRoutines() {
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

void TreeSplitter::TakeMetric(const proto::NodeMetric& metric) {
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
