// The frame level of a binary trace (proto/FORMAT.md): finds whole frames, skips damage.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace jtrace::postproc {

// What was passed over.
struct FrameDamage {
  int64_t places = 0;         // runs of bytes that belong to no whole frame, the tail not counted
  int64_t bad_payloads = 0;   // frames with a right checksum whose payload cannot be decompressed
  uint64_t tail_bytes = 0;    // after the last whole frame
  uint64_t first_offset = 0;  // of the first damage
};

// True and OK if `content` starts with a trace's magic and a version that can be read.
absl::Status CheckFileHeader(std::string_view content);

class FrameScanner {
 public:
  // `content` is a whole file, its header checked before.
  explicit FrameScanner(std::string_view content);

  // The next whole frame's payload, decompressed; valid until the next call. None at the end.
  std::optional<std::string_view> Next();

  // Of the payload that Next returned: its bytes in the file, and as they are.
  size_t frame_bytes() const { return frame_bytes_; }
  size_t payload_bytes() const { return payload_.size(); }

  // Complete when Next has returned none.
  const FrameDamage& damage() const { return damage_; }
  // Bytes of the file done so far.
  size_t position() const { return position_; }

 private:
  struct Candidate {
    std::string_view compressed;
    uint32_t payload_size = 0;
  };
  // A frame with the right mark, sizes within bounds and the right checksum at `offset`.
  std::optional<Candidate> FrameAt(size_t offset) const;
  // The next place from `from` on where a whole frame starts, or npos.
  size_t Resynchronise(size_t from) const;
  bool Decompress(const Candidate& frame);
  void NoteDamage(size_t offset);

  struct FreeContext {
    void operator()(void* context) const;
  };

  const std::string_view content_;
  size_t position_;
  size_t frame_bytes_ = 0;
  std::unique_ptr<void, FreeContext> context_;  // ZSTD_DCtx
  std::string payload_;
  FrameDamage damage_;
};

}  // namespace jtrace::postproc
