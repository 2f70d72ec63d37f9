// The frame level of a binary trace (proto/FORMAT.md): finds whole frames, skips damage.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace jtrace::postproc {

// The bytes that were skipped.
struct FrameDamage {
  int64_t places = 0;         // runs of bytes that belong to no whole frame, the tail not counted
  int64_t bad_payloads = 0;   // frames with a right checksum whose payload cannot be decompressed
  uint64_t tail_bytes = 0;    // after the last whole frame
  uint64_t first_offset = 0;  // of the first damage

  bool any() const { return places + bad_payloads > 0 || tail_bytes > 0; }
  void NoteOffset(uint64_t offset) {
    if (places + bad_payloads == 0 && tail_bytes == 0) first_offset = offset;
    first_offset = std::min(first_offset, offset);
  }
};

// True and OK if `content` starts with a trace's magic and a version that can be read.
absl::Status CheckFileHeader(std::string_view content);

// A frame with the right mark, sizes within bounds and the right checksum.
struct TraceFrame {
  size_t offset = 0;
  std::string_view compressed;
  uint32_t payload_size = 0;
  // Bytes in the file.
  size_t size() const;
};

class FrameScanner {
 public:
  // `content` is a whole file whose header was checked.
  explicit FrameScanner(std::string_view content);

  // The next whole frame. None at the end.
  std::optional<TraceFrame> Next();

  // Complete when Next has returned none. The caller adds payloads that turn out bad.
  const FrameDamage& damage() const { return damage_; }

 private:
  std::optional<TraceFrame> FrameAt(size_t offset);
  // The next whole frame that starts at `from` or later.
  std::optional<TraceFrame> Resynchronise(size_t from);

  const std::string_view content_;
  size_t position_;
  FrameDamage damage_;
  // The bytes that checksums of false frames may still cost. Four bytes that happen to be a mark
  // are rare; but a malicious file can be full of them, each with a large length.
  uint64_t room_for_wrong_;
};

// Decompresses frames, one at a time.
class FrameDecoder {
 public:
  FrameDecoder();
  // False if the frame's bytes are not a payload of that size.
  bool Decompress(const TraceFrame& frame, std::string& payload);

 private:
  struct FreeContext {
    void operator()(void* context) const;
  };
  std::unique_ptr<void, FreeContext> context_;  // ZSTD_DCtx
};

}  // namespace jtrace::postproc
