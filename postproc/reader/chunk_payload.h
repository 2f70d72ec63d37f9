// The bytes of a chunk before protobuf makes objects of them: its event logs are kept as bytes,
// because they are most of a trace and their objects would be most of the memory; the memory of the
// rest is bounded before it is allocated.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proto/trace.pb.h"

namespace jtrace::postproc {

// Reads and removes an unsigned LEB128 number at the front of `bytes`. False if there is none.
bool ConsumeVarint(std::string_view& bytes, uint64_t& value);

// The wire types of protobuf's encoding.
enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5 };

// Reads and removes a field's number, type and value at the front of `bytes`. `content` is set for
// length-delimited fields, `value` for varints. False if the bytes are not a field.
struct WireField {
  uint32_t number = 0;
  uint32_t wire_type = 0;
  uint64_t value = 0;
  std::string_view content;
};
bool ConsumeField(std::string_view& bytes, WireField& field);

class ChunkPayload {
 public:
  enum class Result {
    kOk,
    kMalformed,
    kTooLarge,  // the chunk's objects would take more than kMaxObjectBytes
  };
  // An honest chunk of the maximum size (64 MiB) stays below: eight bytes for each of its bytes,
  // and objects for records of ordinary length.
  static constexpr uint64_t kMaxObjectBytes = uint64_t{1} << 30;

  // What a pass needs: everything, or only what is passed on in the order of its time.
  enum class Content { kAll, kRecords };

  // `payload` must outlive this object's use until the next call.
  Result Parse(std::string_view payload, Content content = Content::kAll);

  // Everything but the logs; or events, frames and samples.
  const proto::Chunk& chunk() const { return chunk_; }
  // The bytes of its EventLogs, in their order.
  const std::vector<std::string_view>& logs() const { return logs_; }
  // The approximate memory of the chunk.
  uint64_t object_bytes() const { return object_bytes_; }

 private:
  Result Split(std::string_view payload, Content content);

  proto::Chunk chunk_;
  uint64_t object_bytes_ = 0;
  std::vector<std::string_view> logs_;
  std::vector<std::string_view> rest_;  // runs of bytes between what is left out
};

}  // namespace jtrace::postproc
