#include "agent/writer/chunk_split.h"

#include <utility>

namespace jtrace::writer {

std::vector<proto::Chunk> SplitChunk(proto::Chunk whole, size_t limit) {
  std::vector<proto::Chunk> parts;
  if (whole.ByteSizeLong() <= limit) {
    parts.push_back(std::move(whole));
    return parts;
  }
  constexpr size_t kFieldHeader = 8;
  google::protobuf::RepeatedPtrField<proto::Event> events;
  events.Swap(whole.mutable_event());
  proto::SessionEnd* const end = whole.release_session_end();
  parts.push_back(std::move(whole));
  size_t bytes = limit;
  for (proto::Event& event : events) {
    const size_t size = event.ByteSizeLong() + kFieldHeader;
    if (bytes + size > limit) {
      parts.emplace_back();
      bytes = 0;
    }
    parts.back().add_event()->Swap(&event);
    bytes += size;
  }
  if (end != nullptr) parts.back().set_allocated_session_end(end);
  return parts;
}

}  // namespace jtrace::writer
