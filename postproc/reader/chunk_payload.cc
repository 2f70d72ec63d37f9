#include "postproc/reader/chunk_payload.h"

#include <cstddef>

namespace jtrace::postproc {
namespace {

// The overhead of one element of a repeated field: the object, its pointer, and the allocator's
// header.
constexpr uint64_t kPerAllocation = sizeof(void*) + 2 * sizeof(size_t);

uint64_t ObjectBytes(uint32_t chunk_field) {
  using proto::Chunk;
  switch (chunk_field) {
    case Chunk::kStringFieldNumber:
      return sizeof(std::string) + kPerAllocation;
    case Chunk::kClassDefFieldNumber:
      return sizeof(proto::ClassDef) + kPerAllocation;
    case Chunk::kRoutineFieldNumber:
      return sizeof(proto::Routine) + kPerAllocation;
    case Chunk::kMethodFieldNumber:
      return sizeof(proto::Method) + kPerAllocation;
    case Chunk::kFrameFieldNumber:
      return sizeof(proto::Frame) + kPerAllocation;
    case Chunk::kEventFieldNumber:
      return sizeof(proto::Event) + sizeof(proto::CodeEvent) + kPerAllocation;
    case Chunk::kTreeFieldNumber:
      return sizeof(proto::TreeDelta) + kPerAllocation;
    default:
      return sizeof(proto::Sample) + sizeof(proto::Thread) + kPerAllocation;
  }
}

// Whether elements of the field hold repeated messages of their own.
bool HoldsMessages(uint32_t chunk_field) {
  return chunk_field == proto::Chunk::kTreeFieldNumber ||
         chunk_field == proto::Chunk::kPlannerFieldNumber;
}

// The objects of a chunk's field. Numbers take at most eight bytes for one on the wire.
uint64_t ObjectBytesOf(const WireField& field) {
  if (field.wire_type != kLengthDelimited) return 0;
  uint64_t bytes = ObjectBytes(field.number) + sizeof(uint64_t) * field.content.size();
  if (!HoldsMessages(field.number)) return bytes;
  std::string_view content = field.content;
  for (WireField inner; !content.empty() && ConsumeField(content, inner);) {
    if (inner.wire_type == kLengthDelimited) bytes += sizeof(proto::NodeMetric) + kPerAllocation;
  }
  return bytes;
}

// Events and the samples with their frames.
bool IsOfRecords(const WireField& field) {
  using proto::Chunk;
  return field.number == Chunk::kEventFieldNumber || field.number == Chunk::kFrameFieldNumber ||
         field.number == Chunk::kSampleFieldNumber;
}

}  // namespace

bool ConsumeVarint(std::string_view& bytes, uint64_t& value) {
  value = 0;
  for (size_t i = 0; i < bytes.size() && i < 10; ++i) {
    const auto byte = static_cast<uint8_t>(bytes[i]);
    value |= uint64_t{byte & 0x7fu} << (7 * i);
    if (byte < 0x80) {
      bytes.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

bool ConsumeField(std::string_view& bytes, WireField& field) {
  uint64_t tag = 0;
  if (!ConsumeVarint(bytes, tag) || (tag >> 3) == 0 || (tag >> 32) != 0) return false;
  field = {};
  field.number = static_cast<uint32_t>(tag >> 3);
  field.wire_type = static_cast<uint32_t>(tag & 7);
  uint64_t size = 0;
  switch (field.wire_type) {
    case kVarint:
      return ConsumeVarint(bytes, field.value);
    case kFixed64:
      size = sizeof(uint64_t);
      break;
    case kFixed32:
      size = sizeof(uint32_t);
      break;
    case kLengthDelimited:
      if (!ConsumeVarint(bytes, size)) return false;
      break;
    default:  // groups, which the schema does not use
      return false;
  }
  if (size > bytes.size()) return false;
  field.content = bytes.substr(0, size);
  bytes.remove_prefix(size);
  return true;
}

ChunkPayload::Result ChunkPayload::Split(std::string_view payload, Content content) {
  logs_.clear();
  rest_.clear();
  object_bytes_ = 0;
  const char* rest_begin = payload.data();
  while (!payload.empty()) {
    const char* field_begin = payload.data();
    WireField field;
    if (!ConsumeField(payload, field)) return Result::kMalformed;
    const bool is_log =
        field.number == proto::Chunk::kLogFieldNumber && field.wire_type == kLengthDelimited;
    if (is_log || (content == Content::kRecords && !IsOfRecords(field))) {
      if (rest_begin != field_begin) {
        rest_.emplace_back(rest_begin, static_cast<size_t>(field_begin - rest_begin));
      }
      rest_begin = payload.data();
      if (is_log) logs_.push_back(field.content);
      continue;
    }
    object_bytes_ += ObjectBytesOf(field);
    if (object_bytes_ > kMaxObjectBytes) return Result::kTooLarge;
  }
  rest_.emplace_back(rest_begin, static_cast<size_t>(payload.data() - rest_begin));
  return Result::kOk;
}

ChunkPayload::Result ChunkPayload::Parse(std::string_view payload, Content content) {
  const Result result = Split(payload, content);
  if (result != Result::kOk) return result;
  const std::string_view first = rest_.front();
  if (!chunk_.ParseFromArray(first.data(), static_cast<int>(first.size()))) {
    return Result::kMalformed;
  }
  // Little follows the logs, whose field number is high; nor do records, beside trees.
  for (size_t i = 1; i < rest_.size(); ++i) {
    if (!chunk_.MergeFromString(std::string(rest_[i]))) return Result::kMalformed;
  }
  return Result::kOk;
}

}  // namespace jtrace::postproc
