#include "postproc/source/zip_archive.h"

#include <zlib.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

// PKWARE's APPNOTE, 4.3: records of fixed parts, followed by names, extra fields and comments.
constexpr uint32_t kLocalHeader = 0x04034b50;
constexpr uint32_t kDirectoryEntry = 0x02014b50;
constexpr uint32_t kDirectoryEnd = 0x06054b50;
constexpr uint32_t kDirectoryEnd64 = 0x06064b50;
constexpr uint32_t kLocator64 = 0x07064b50;
constexpr size_t kLocalHeaderBytes = 30;
constexpr size_t kDirectoryEntryBytes = 46;
constexpr size_t kDirectoryEndBytes = 22;
constexpr size_t kDirectoryEnd64Bytes = 56;
constexpr size_t kLocator64Bytes = 20;
constexpr size_t kLongestComment = 65535;
constexpr uint16_t kStored = 0;
constexpr uint16_t kDeflated = 8;
// Both are as wide as their fields: the real value is in a record of zip64.
constexpr uint16_t kManyEntries = 0xffff;
constexpr uint32_t kFarOffset = 0xffffffff;

// `size` bytes at `offset`; empty if the content does not have them all.
std::string_view Part(std::string_view content, uint64_t offset, uint64_t size) {
  if (offset > content.size() || size > content.size() - offset) return {};
  return content.substr(offset, size);
}

// Little-endian, inside a part that was checked.
template <typename T>
T Field(std::string_view part, size_t offset) {
  T value = 0;
  for (size_t i = sizeof(T); i-- > 0;) {
    value = static_cast<T>(static_cast<uint64_t>(value) << 8 |
                           static_cast<unsigned char>(part[offset + i]));
  }
  return value;
}

struct Directory {
  uint64_t offset = 0;
  uint64_t size = 0;
  uint64_t entries = 0;
};

// The end record is the last one, before a comment.
std::optional<size_t> FindEnd(std::string_view content) {
  if (content.size() < kDirectoryEndBytes) return std::nullopt;
  const size_t last = content.size() - kDirectoryEndBytes;
  const size_t first = last > kLongestComment ? last - kLongestComment : 0;
  for (size_t at = last + 1; at-- > first;) {
    const std::string_view record = content.substr(at);
    if (Field<uint32_t>(record, 0) != kDirectoryEnd) continue;
    if (Field<uint16_t>(record, 20) == record.size() - kDirectoryEndBytes) return at;
  }
  return std::nullopt;
}

// The directory of an archive with more files or bytes than the end record's fields can hold.
std::optional<Directory> FindDirectory64(std::string_view content, size_t end) {
  if (end < kLocator64Bytes) return std::nullopt;
  const std::string_view locator = content.substr(end - kLocator64Bytes, kLocator64Bytes);
  if (Field<uint32_t>(locator, 0) != kLocator64) return std::nullopt;
  const std::string_view record = Part(content, Field<uint64_t>(locator, 8), kDirectoryEnd64Bytes);
  if (record.empty() || Field<uint32_t>(record, 0) != kDirectoryEnd64) return std::nullopt;
  return Directory{Field<uint64_t>(record, 48), Field<uint64_t>(record, 40),
                   Field<uint64_t>(record, 32)};
}

std::optional<Directory> FindDirectory(std::string_view content) {
  const std::optional<size_t> end = FindEnd(content);
  if (!end.has_value()) return std::nullopt;
  const std::string_view record = content.substr(*end, kDirectoryEndBytes);
  const Directory directory{Field<uint32_t>(record, 16), Field<uint32_t>(record, 12),
                            Field<uint16_t>(record, 10)};
  const bool is_large = directory.entries == kManyEntries || directory.offset == kFarOffset ||
                        directory.size == kFarOffset;
  return is_large ? FindDirectory64(content, *end) : directory;
}

// The whole output has `size` bytes, which are bounded.
std::optional<std::string> Inflate(std::string_view packed, uint64_t size) {
  std::string content(size, '\0');
  char none = 0;
  z_stream stream{};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(size > 0 ? content.data() : &none);
  stream.avail_out = static_cast<uInt>(size);
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return std::nullopt;
  const int result = inflate(&stream, Z_FINISH);
  const bool is_whole = result == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  return is_whole ? std::optional(std::move(content)) : std::nullopt;
}

std::optional<std::string> Unpack(std::string_view packed, const ZipEntry& entry) {
  if (entry.method == kDeflated) return Inflate(packed, entry.size);
  if (entry.method == kStored && packed.size() == entry.size) return std::string(packed);
  return std::nullopt;
}

uint32_t ChecksumOf(const std::string& content) {
  return static_cast<uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size())));
}

}  // namespace

absl::StatusOr<ZipArchive> ZipArchive::Open(const std::string& path) {
  absl::StatusOr<InputFile> file = InputFile::OpenRegular(path);
  if (!file.ok()) return file.status();
  return FromFile(*std::move(file), path);
}

absl::StatusOr<ZipArchive> ZipArchive::FromFile(InputFile file, const std::string& path) {
  ZipArchive archive(std::move(file), path);
  if (absl::Status status = archive.ReadDirectory(); !status.ok()) return status;
  return archive;
}

absl::Status ZipArchive::Damaged(std::string_view what) const {
  return absl::DataLossError(StrCat("cannot read ", path_, ": ", what));
}

absl::Status ZipArchive::ReadDirectory() {
  const std::string_view content = file_.content();
  const std::optional<Directory> directory = FindDirectory(content);
  if (!directory.has_value()) return Damaged("it is not a zip archive, or its end is missing");
  std::string_view rest = Part(content, directory->offset, directory->size);
  for (uint64_t i = 0; i < directory->entries; ++i) {
    if (rest.size() < kDirectoryEntryBytes || Field<uint32_t>(rest, 0) != kDirectoryEntry) {
      return Damaged("the archive's directory is damaged");
    }
    const uint64_t name_bytes = Field<uint16_t>(rest, 28);
    const uint64_t whole =
        kDirectoryEntryBytes + name_bytes + Field<uint16_t>(rest, 30) + Field<uint16_t>(rest, 32);
    if (whole > rest.size()) return Damaged("the archive's directory is damaged");
    ZipEntry entry{rest.substr(kDirectoryEntryBytes, name_bytes),
                   Field<uint16_t>(rest, 10),
                   Field<uint32_t>(rest, 16),
                   Field<uint32_t>(rest, 20),
                   Field<uint32_t>(rest, 24),
                   Field<uint32_t>(rest, 42)};
    if (!entry.name.empty() && !entry.name.ends_with('/')) entries_.push_back(entry);
    rest.remove_prefix(whole);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ZipArchive::Read(const ZipEntry& entry) const {
  const auto damaged = [&] { return Damaged(StrCat(entry.name, " in it is damaged")); };
  if (entry.size > kMostContent) return Damaged(StrCat(entry.name, " in it is too large"));
  const std::string_view local = Part(file_.content(), entry.header, kLocalHeaderBytes);
  if (local.empty() || Field<uint32_t>(local, 0) != kLocalHeader) return damaged();
  const uint64_t begin =
      entry.header + kLocalHeaderBytes + Field<uint16_t>(local, 26) + Field<uint16_t>(local, 28);
  const std::string_view packed = Part(file_.content(), begin, entry.packed);
  if (packed.size() != entry.packed) return damaged();
  std::optional<std::string> content = Unpack(packed, entry);
  if (!content.has_value() || ChecksumOf(*content) != entry.crc) return damaged();
  return *std::move(content);
}

}  // namespace jtrace::postproc
