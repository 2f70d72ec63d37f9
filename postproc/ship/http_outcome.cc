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

// The bytes of the field of that number; "" if there is none.
std::string Field(std::string_view message, int field, uint64_t* number) {
  CodedInputStream in(reinterpret_cast<const uint8_t*>(message.data()),
                      static_cast<int>(message.size()));
  std::string bytes;
  while (const uint32_t tag = in.ReadTag()) {
    const int found = WireFormatLite::GetTagFieldNumber(tag);
    const auto type = WireFormatLite::GetTagWireType(tag);
    uint32_t size = 0;
    if (found == field && type == WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      if (!in.ReadVarint32(&size) || !in.ReadString(&bytes, static_cast<int>(size))) return "";
    } else if (number != nullptr && found == field && type == WireFormatLite::WIRETYPE_VARINT) {
      if (!in.ReadVarint64(number)) return "";
    } else if (!WireFormatLite::SkipField(&in, tag)) {
      return "";
    }
  }
  return bytes;
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

std::string RejectedByOtlp(std::string_view answer) {
  constexpr int kPartialSuccess = 1;
  constexpr int kRejectedProfiles = 1;
  constexpr int kErrorMessage = 2;
  const std::string partial = Field(answer, kPartialSuccess, nullptr);
  uint64_t rejected = 0;
  Field(partial, kRejectedProfiles, &rejected);
  if (rejected == 0) return "";
  return StrCat("the server rejected ", rejected, " profiles",
                Excerpt(Field(partial, kErrorMessage, nullptr)));
}

}  // namespace jtrace::ship
