#include "postproc/ship/http_outcome.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>

#include "common/utf8.h"
#include "common/visible_text.h"
#include "postproc/support/strings.h"

namespace jtrace::ship {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using postproc::StrCat;

std::string_view RemedyOf(int64_t code) {
  if (code == 401 || code == 403) return ": give the server's token in --header-file=FILE";
  if (code == 404 || code == 405) return ": the path of the URL is another one there";
  if (code >= 300 && code < 400) return ": name the URL that it redirects to";
  return "";
}

// The beginning of the text, in one line.
std::string Excerpt(std::string_view text) {
  constexpr size_t kMost = 200;
  std::string line = ValidUtf8(text.substr(0, kMost));
  std::replace(line.begin(), line.end(), '\n', ' ');
  while (line.ends_with(' ')) line.pop_back();
  return line.empty() ? "" : StrCat(" (", VisibleText(line), ")");
}

// Of a message: the field 1 as a number and as bytes, and the field 2 as bytes.
struct Fields {
  uint64_t number = 0;
  std::string first;
  std::string second;
  bool is_whole = true;  // false: it ends too early, or is none
};

// What is there of a text that is cut.
bool ReadBytes(CodedInputStream& in, std::string& bytes) {
  uint32_t size = 0;
  if (!in.ReadVarint32(&size)) return false;
  const int rest = in.BytesUntilTotalBytesLimit();
  const bool is_whole = rest >= 0 && size <= static_cast<uint32_t>(rest);
  return in.ReadString(&bytes, is_whole ? static_cast<int>(size) : std::max(rest, 0)) && is_whole;
}

Fields ReadFields(std::string_view message) {
  CodedInputStream in(reinterpret_cast<const uint8_t*>(message.data()),
                      static_cast<int>(message.size()));
  in.SetTotalBytesLimit(static_cast<int>(message.size()));
  Fields fields;
  while (fields.is_whole) {
    const uint32_t tag = in.ReadTag();
    if (tag == 0) break;
    const int found = WireFormatLite::GetTagFieldNumber(tag);
    const auto type = WireFormatLite::GetTagWireType(tag);
    if (type == WireFormatLite::WIRETYPE_LENGTH_DELIMITED && (found == 1 || found == 2)) {
      fields.is_whole = ReadBytes(in, found == 1 ? fields.first : fields.second);
    } else if (type == WireFormatLite::WIRETYPE_VARINT && found == 1) {
      fields.is_whole = in.ReadVarint64(&fields.number);
    } else {
      fields.is_whole = WireFormatLite::SkipField(&in, tag);
    }
  }
  fields.is_whole = fields.is_whole && in.CurrentPosition() == static_cast<int>(message.size());
  return fields;
}

}  // namespace

Delivery OutcomeOf(const HttpAnswer& answer) {
  constexpr int64_t kRefusing[] = {400, 413, 415, 422};
  if (answer.code >= 200 && answer.code < 300) return {};
  const bool is_refused =
      std::find(std::begin(kRefusing), std::end(kRefusing), answer.code) != std::end(kRefusing);
  return {.outcome = is_refused ? Delivery::Outcome::kRefused : Delivery::Outcome::kLater,
          .message = StrCat("the server answers ", answer.code, Excerpt(answer.text),
                            RemedyOf(answer.code)),
          .wait = answer.retry_after};
}

// partial_success (1) {rejected_profiles (1), error_message (2)}
Delivery OutcomeOfOtlp(std::string_view answer) {
  const Fields response = ReadFields(answer);
  const Fields partial = ReadFields(response.first);
  if (partial.number > 0) {
    return {.outcome = Delivery::Outcome::kRefused,
            .message = StrCat("the server rejected ", partial.number, " profiles",
                              Excerpt(partial.second))};
  }
  if (response.is_whole && partial.is_whole) return {};
  return {.outcome = Delivery::Outcome::kLater,
          .message = StrCat("the server's answer is not one of OTLP", Excerpt(answer),
                            ": is there a collector at that URL?")};
}

}  // namespace jtrace::ship
