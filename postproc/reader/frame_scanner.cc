#include "postproc/reader/frame_scanner.h"

#include <zlib.h>
#include <zstd.h>

#include <new>

#include "postproc/support/strings.h"
#include "proto/trace_format.h"

namespace jtrace::postproc {
namespace {

uint32_t ReadU32(std::string_view bytes, size_t offset) {
  uint32_t value = 0;
  for (size_t i = sizeof value; i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[offset + i]);
  }
  return value;
}

std::string MarkBytes() {
  std::string mark;
  for (size_t i = 0; i < sizeof(uint32_t); ++i) {
    mark.push_back(static_cast<char>(format::kFrameMark >> (8 * i) & 0xff));
  }
  return mark;
}

}  // namespace

absl::Status CheckFileHeader(std::string_view content) {
  const std::string_view magic(format::kMagic.data(), format::kMagic.size());
  if (content.substr(0, magic.size()) != magic) {
    return absl::InvalidArgumentError("not a binary trace");
  }
  if (content.size() < format::kFileHeaderSize) {
    return absl::InvalidArgumentError("cut off within the file header");
  }
  const uint32_t version = ReadU32(content, magic.size());
  if (version == format::kVersion) return absl::OkStatus();
  if (version > format::kVersion) {
    return absl::UnimplementedError(StrCat("binary trace version ", version,
                                           " is newer than this jtrace-post reads (",
                                           format::kVersion, "): use a newer jtrace-post"));
  }
  return absl::InvalidArgumentError(StrCat("binary trace version ", version, " never was"));
}

FrameScanner::FrameScanner(std::string_view content)
    : content_(content),
      position_(format::kFileHeaderSize),
      room_for_wrong_(4 * uint64_t{format::kMaxPayloadSize} + 4 * content.size()) {}

size_t TraceFrame::size() const { return format::kFrameHeaderSize + compressed.size(); }

FrameDecoder::FrameDecoder() : context_(ZSTD_createDCtx()) {
  if (context_ == nullptr) throw std::bad_alloc();  // it can fail only for this
}

void FrameDecoder::FreeContext::operator()(void* context) const {
  ZSTD_freeDCtx(static_cast<ZSTD_DCtx*>(context));
}

std::optional<TraceFrame> FrameScanner::FrameAt(size_t offset) {
  if (content_.size() < offset || content_.size() - offset < format::kFrameHeaderSize) {
    return std::nullopt;
  }
  if (ReadU32(content_, offset) != format::kFrameMark) return std::nullopt;
  const uint32_t compressed_size = ReadU32(content_, offset + 4);
  const uint32_t payload_size = ReadU32(content_, offset + 8);
  const uint32_t checksum = ReadU32(content_, offset + 12);
  if (payload_size > format::kMaxPayloadSize || compressed_size > room_for_wrong_ ||
      compressed_size > content_.size() - offset - format::kFrameHeaderSize) {
    return std::nullopt;
  }
  const std::string_view compressed =
      content_.substr(offset + format::kFrameHeaderSize, compressed_size);
  const uint32_t actual = static_cast<uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(compressed.data()), compressed_size));
  if (actual != checksum) {
    room_for_wrong_ -= compressed_size;
    return std::nullopt;
  }
  return TraceFrame{offset, compressed, payload_size};
}

std::optional<TraceFrame> FrameScanner::Resynchronise(size_t from) {
  static const std::string mark = MarkBytes();
  for (size_t at = content_.find(mark, from); at != std::string_view::npos;
       at = content_.find(mark, at + 1)) {
    if (auto frame = FrameAt(at)) return frame;
  }
  return std::nullopt;
}

bool FrameDecoder::Decompress(const TraceFrame& frame, std::string& payload) {
  payload.resize(frame.payload_size);
  const size_t size =
      ZSTD_decompressDCtx(static_cast<ZSTD_DCtx*>(context_.get()), payload.data(), payload.size(),
                          frame.compressed.data(), frame.compressed.size());
  return ZSTD_isError(size) == 0 && size == frame.payload_size;
}

std::optional<TraceFrame> FrameScanner::Next() {
  if (position_ >= content_.size()) return std::nullopt;
  std::optional<TraceFrame> frame = FrameAt(position_);
  if (!frame.has_value()) {
    damage_.NoteOffset(position_);
    frame = Resynchronise(position_ + 1);
    if (!frame.has_value()) {
      damage_.tail_bytes = content_.size() - position_;
      position_ = content_.size();
      return std::nullopt;
    }
    ++damage_.places;
  }
  position_ = frame->offset + frame->size();
  return frame;
}

}  // namespace jtrace::postproc
