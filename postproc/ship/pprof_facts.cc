#include "postproc/ship/pprof_facts.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/wire_format_lite.h>
#include <zlib.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "postproc/ship/url.h"
#include "postproc/support/strings.h"

namespace jtrace::ship {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using postproc::StrCat;

// Fields of pprof's Profile.
constexpr int kStringTable = 6;
constexpr int kTimeNanos = 9;
constexpr int kDurationNanos = 10;
constexpr int kComment = 13;

// What a file decompresses to.
class GzipSource : public google::protobuf::io::CopyingInputStream {
 public:
  explicit GzipSource(gzFile file) : file_(file) {}
  int Read(void* buffer, int size) override {
    return gzread(file_, buffer, static_cast<unsigned>(size));
  }

 private:
  gzFile file_;
};

struct Reading {
  PprofFacts facts;
  std::vector<uint64_t> comments;  // numbers of texts, ascending
  std::vector<std::string> texts;
  uint64_t next_text = 0;
};

// jtrace-post writes a profile's comments before its texts.
bool ReadText(CodedInputStream& in, Reading& reading) {
  uint32_t size = 0;
  if (!in.ReadVarint32(&size)) return false;
  const bool is_wanted = std::find(reading.comments.begin(), reading.comments.end(),
                                   reading.next_text++) != reading.comments.end();
  if (!is_wanted) return in.Skip(static_cast<int>(size));
  return in.ReadString(&reading.texts.emplace_back(), static_cast<int>(size));
}

bool ReadComments(CodedInputStream& in, uint32_t tag, Reading& reading) {
  uint64_t number = 0;
  if (WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_VARINT) {
    if (!in.ReadVarint64(&number)) return false;
    reading.comments.push_back(number);
    return true;
  }
  uint32_t size = 0;
  if (!in.ReadVarint32(&size)) return false;
  const auto limit = in.PushLimit(static_cast<int>(size));
  while (in.BytesUntilLimit() > 0) {
    if (!in.ReadVarint64(&number)) return false;
    reading.comments.push_back(number);
  }
  in.PopLimit(limit);
  return true;
}

bool ReadNumber(CodedInputStream& in, int64_t& number) {
  uint64_t bits = 0;
  const bool is_read = in.ReadVarint64(&bits);
  number = static_cast<int64_t>(bits);
  return is_read;
}

bool ReadField(CodedInputStream& in, uint32_t tag, Reading& reading) {
  switch (WireFormatLite::GetTagFieldNumber(tag)) {
    case kStringTable:
      return ReadText(in, reading);
    case kTimeNanos:
      return ReadNumber(in, reading.facts.start_ns);
    case kDurationNanos:
      return ReadNumber(in, reading.facts.duration_ns);
    case kComment:
      return ReadComments(in, tag, reading);
    default:
      return WireFormatLite::SkipField(&in, tag);
  }
}

// Pyroscope's names have no escapes.
std::string NamePart(std::string_view text) {
  std::string part(text);
  for (char& c : part) {
    if (std::string_view("{}=,\"").find(c) != std::string_view::npos) c = '_';
  }
  return part;
}

}  // namespace

absl::StatusOr<PprofFacts> ReadPprofFacts(const std::string& file) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> opened(gzopen(file.c_str(), "rbe"), gzclose);
  if (opened == nullptr) return absl::UnavailableError(StrCat("cannot read ", file));
  GzipSource source(opened.get());
  google::protobuf::io::CopyingInputStreamAdaptor stream(&source);
  CodedInputStream in(&stream);
  Reading reading;
  while (const uint32_t tag = in.ReadTag()) {
    if (!ReadField(in, tag, reading)) {
      return absl::DataLossError(StrCat(file, " is not a whole profile"));
    }
  }
  for (const std::string& text : reading.texts) {
    const size_t colon = text.find(": ");
    if (colon == std::string::npos) continue;
    reading.facts.comments[text.substr(0, colon)] = text.substr(colon + 2);
  }
  return std::move(reading.facts);
}

std::string IngestQuery(const PprofFacts& facts) {
  constexpr int64_t kSecond = 1'000'000'000;
  const auto comment = [&](const char* key) {
    const auto found = facts.comments.find(key);
    return found == facts.comments.end() ? std::string() : NamePart(found->second);
  };
  std::string name = comment("service");
  if (name.empty()) name = "java";
  std::string labels;
  for (const char* key : {"host", "version", "container"}) {
    const std::string value = comment(key);
    if (!value.empty()) labels += StrCat(labels.empty() ? "" : ",", key, "=", value);
  }
  const int64_t from = facts.start_ns / kSecond;
  const int64_t until = std::max((facts.start_ns + facts.duration_ns) / kSecond, from + 1);
  return StrCat("name=", Escaped(StrCat(name, "{", labels, "}")), "&from=", from, "&until=", until,
                "&format=pprof&spyName=jtrace");
}

}  // namespace jtrace::ship
