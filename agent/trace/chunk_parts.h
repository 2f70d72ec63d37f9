// The part of a split chunk that is being filled. Writer thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "trace.pb.h"

namespace jtrace::trace {

class ChunkParts {
 public:
  using Write = absl::FunctionRef<void(proto::Chunk)>;

  // Parts have at most about `limit` bytes. A larger record gets its own part, or is left out if it
  // has more than `most` bytes. `write` is called with each part.
  ChunkParts(size_t limit, size_t most, Write write) : limit_(limit), most_(most), write_(write) {}
  ChunkParts(const ChunkParts&) = delete;
  ChunkParts& operator=(const ChunkParts&) = delete;

  // The part for a record of so many bytes, a new one if necessary; null: the record is left out.
  proto::Chunk* For(size_t bytes) {
    if (bytes > most_) {
      ++left_out_;
      return nullptr;
    }
    if (!HasRoom(bytes)) Flush();
    bytes_ += bytes;
    return &part_;
  }
  // Whether the record fits into the current part.
  bool HasRoom(size_t bytes) const { return bytes_ == 0 || bytes_ + bytes <= limit_; }
  // Changes with each new part.
  uint64_t number() const { return number_; }
  size_t limit() const { return limit_; }
  uint64_t left_out() const { return left_out_; }

  void Flush() {
    write_(std::move(part_));
    part_ = proto::Chunk();
    bytes_ = 0;
    ++number_;
  }

 private:
  const size_t limit_;
  const size_t most_;
  const Write write_;
  proto::Chunk part_;
  size_t bytes_ = 0;
  uint64_t number_ = 0;
  uint64_t left_out_ = 0;
};

// The most bytes that a field of a message takes besides its content: its number and its length.
inline constexpr size_t kFieldHeader = 8;

}  // namespace jtrace::trace
