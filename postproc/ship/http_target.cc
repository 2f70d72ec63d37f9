#include "postproc/ship/http_target.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "postproc/export/run_identity.h"
#include "postproc/ship/durable.h"
#include "postproc/ship/gzip_file.h"
#include "postproc/ship/http_headers.h"
#include "postproc/ship/http_outcome.h"
#include "postproc/ship/own_folder.h"
#include "postproc/ship/target_key.h"
#include "postproc/ship/url.h"
#include "postproc/support/strings.h"

namespace jtrace::ship {
namespace {

using postproc::StrCat;

std::string_view KindOf(ProfileFormat format) {
  return format == ProfileFormat::kOtlp ? "otlp" : "pprof";
}

std::string WorkFolder() { return StrCat(kOwnFolder, "/sending"); }

Converter Private(Converter converter) {
  converter.is_private = true;
  return converter;
}

Delivery Later(const absl::Status& status) {
  return {.outcome = Delivery::Outcome::kLater, .message = std::string(status.message())};
}

}  // namespace

HttpTarget::HttpTarget(HttpSettings settings, Converter converter, const Curl& curl)
    : settings_(std::move(settings)),
      converter_(Private(std::move(converter))),
      name_(StrCat(KindOf(settings_.format), ":", ShownUrl(settings_.url))),
      key_(TargetKey(KindOf(settings_.format), settings_.url)),
      body_(StrCat(settings_.folder, "/", WorkFolder(), "/", key_)),
      post_(curl) {}

// A work folder of a shipper that was killed may have anything of it.
absl::Status HttpTarget::Open() {
  if (!settings_.header_file.empty()) {
    if (auto headers = ReadHeaders(settings_.header_file); !headers.ok()) return headers.status();
  }
  const auto folder = OwnFolder::Make(settings_.folder, WorkFolder());
  if (!folder.ok()) return folder.status();
  for (const std::string& name : folder->Names()) {
    if (name.starts_with(key_)) folder->Remove(name);
  }
  return absl::OkStatus();
}

bool HttpTarget::IsPrepared(const std::string& which) const {
  return which == prepared_ && access(body_.c_str(), R_OK) == 0;
}

bool HttpTarget::TakeIdAndQuery(std::string_view line) {
  if (!postproc::ConsumePrefix(line, StrCat("jtrace-post: ", postproc::kProfileNote))) return false;
  const size_t space = line.find(' ');
  if (space == std::string_view::npos) return false;
  profile_id_ = line.substr(0, space);
  ingest_query_ = line.substr(space + 1);
  return true;
}

// Threads of a pool are one: their numbers would make as many series in a server.
Delivery HttpTarget::Prepare(const SealedTrace& trace, StopSignal& stop) {
  const std::string which = StrCat(trace.name, "\n", trace.inode, "\n", trace.modified_ns);
  if (IsPrepared(which)) return {};
  prepared_.clear();
  const auto folder = OwnFolder::Make(settings_.folder, WorkFolder());
  if (!folder.ok()) return Later(folder.status());
  folder->Remove(key_);
  const std::vector<std::string> options = {"--aggregate=group"};
  const bool is_otlp = settings_.format == ProfileFormat::kOtlp;
  const std::string written = is_otlp ? StrCat(body_, ".plain") : body_;
  Delivery delivery =
      converter_.Convert(trace, std::string(KindOf(settings_.format)), options, written, stop);
  if (delivery.outcome != Delivery::Outcome::kDelivered) return delivery;
  if (!is_otlp && !TakeIdAndQuery(delivery.message)) {
    return {.outcome = Delivery::Outcome::kLater,
            .message = "jtrace-post is of another version than jtrace: install both"};
  }
  if (is_otlp) {
    if (absl::Status status = GzipFile(written, body_); !status.ok()) return Later(status);
    RemoveFile(written);
  }
  prepared_ = which;
  return delivery;
}

absl::StatusOr<HttpRequest> HttpTarget::Request() const {
  HttpRequest request = {.url = settings_.url, .body_file = body_, .longest = settings_.longest};
  if (!settings_.header_file.empty()) {  // again each time: tokens are renewed
    absl::StatusOr<std::vector<std::string>> headers = ReadHeaders(settings_.header_file);
    if (!headers.ok()) return headers.status();
    request.headers = *std::move(headers);
  }
  if (settings_.format == ProfileFormat::kOtlp) {
    request.headers.emplace_back("Content-Type: application/x-protobuf");
    request.headers.emplace_back("Content-Encoding: gzip");
    return request;
  }
  request.url = WithQuery(settings_.url, ingest_query_);
  request.headers.emplace_back("Content-Type: application/octet-stream");
  request.headers.push_back(StrCat("Idempotency-Key: ", profile_id_));
  return request;
}

Delivery HttpTarget::Send(StopSignal& stop) {
  const absl::StatusOr<HttpRequest> request = Request();
  if (!request.ok()) return Later(request.status());
  const absl::StatusOr<HttpAnswer> answer = post_.Send(*request, stop);
  if (absl::IsCancelled(answer.status())) return {.outcome = Delivery::Outcome::kStopped};
  if (!answer.ok()) return Later(answer.status());
  Delivery delivery = OutcomeOf(*answer);
  if (delivery.outcome != Delivery::Outcome::kDelivered) return delivery;
  if (settings_.format == ProfileFormat::kOtlp) {
    delivery = OutcomeOfOtlp(answer->text);
    if (delivery.outcome != Delivery::Outcome::kDelivered) return delivery;
  }
  std::error_code none;
  delivery.bytes = std::filesystem::file_size(body_, none);
  return delivery;
}

Delivery HttpTarget::Deliver(const SealedTrace& trace, StopSignal& stop) {
  Delivery delivery = Prepare(trace, stop);
  if (delivery.outcome != Delivery::Outcome::kDelivered) return delivery;
  delivery = Send(stop);
  const bool is_over = delivery.outcome == Delivery::Outcome::kDelivered ||
                       delivery.outcome == Delivery::Outcome::kRefused;
  if (is_over) {
    RemoveFile(body_);
    prepared_.clear();
  }
  return delivery;
}

}  // namespace jtrace::ship
