#include "agent/trace/chunk_split.h"

#include <algorithm>
#include <string>
#include <utility>

#include "agent/trace/record_split.h"
#include "agent/trace/tree_split.h"

namespace jtrace::trace {
namespace {

using google::protobuf::RepeatedPtrField;

// Sequence number and time.
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

// A string's number follows from its place.
void TakeStrings(proto::Chunk& whole, ChunkParts& parts) {
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

void TakeDefinitions(proto::Chunk& whole, ChunkParts& parts) {
  if (whole.has_session_start()) {
    proto::Chunk* part = parts.For(whole.session_start().ByteSizeLong() + kFieldHeader);
    if (part != nullptr) part->set_allocated_session_start(whole.release_session_start());
  }
  TakeStrings(whole, parts);
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

}  // namespace

void ChunkSplitter::Split(proto::Chunk whole, ChunkParts::Write write) {
  if (Fits(whole)) {
    write(std::move(whole));
    return;
  }
  ChunkParts parts(limit_ - std::min(limit_, kPartHead), most_, write);
  TakeDefinitions(whole, parts);
  TreeSplitter trees(parts);
  for (proto::TreeDelta& delta : *whole.mutable_tree()) trees.Take(delta);
  whole.clear_tree();
  RecordSplitter(whole, parts).TakeAll();
  left_out_ += parts.left_out();
  if (left_out_ > 0) AddLoss(left_out_, whole);
  MoveRemainder(whole, parts);
  parts.Flush();
}

}  // namespace jtrace::trace
