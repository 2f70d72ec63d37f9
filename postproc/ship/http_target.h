// --to=otlp:URL and --to=pprof:URL: profiles for servers.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "postproc/ship/converter.h"
#include "postproc/ship/http_post.h"
#include "postproc/ship/target.h"

namespace jtrace::ship {

enum class ProfileFormat { kOtlp, kPprof };

struct HttpSettings {
  ProfileFormat format = ProfileFormat::kOtlp;
  std::string url;
  std::string header_file;  // empty: none
  std::string folder;       // of the traces; a profile is in one below while it is sent
  absl::Duration longest = absl::Seconds(30);
};

// A trace is a profile, whose id follows from the run: that of a repeat is the same.
class HttpTarget : public Target {
 public:
  HttpTarget(HttpSettings settings, Converter converter, const Curl& curl);

  absl::Status Open() override;
  Delivery Deliver(const SealedTrace& trace, StopSignal& stop) override;
  const std::string& name() const override { return name_; }
  const std::string& key() const override { return key_; }

 private:
  // Makes the file that is sent, unless the last try made it.
  Delivery Prepare(const SealedTrace& trace, StopSignal& stop);
  absl::StatusOr<HttpRequest> Request() const;
  bool IsPrepared(const std::string& which) const;
  // Of jtrace-post's last line. False: it has neither.
  bool TakeIdAndQuery(std::string_view line);
  Delivery Send(StopSignal& stop);

  const HttpSettings settings_;
  const Converter converter_;
  const std::string name_;
  const std::string key_;
  const std::string body_;  // the file
  HttpPost post_;
  std::string prepared_;  // the trace whose profile `body_` is
  // Of a pprof profile.
  std::string profile_id_;
  std::string ingest_query_;
};

}  // namespace jtrace::ship
