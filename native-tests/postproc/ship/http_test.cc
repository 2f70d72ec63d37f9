// URLs, headers, and what answers of servers mean.
#include <gmock/gmock.h>

#include <fstream>

#include "native-tests/postproc/ship/trace_folder.h"
#include "postproc/ship/curl_library.h"
#include "postproc/ship/http_headers.h"
#include "postproc/ship/http_outcome.h"
#include "postproc/ship/url.h"

namespace jtrace::ship {
namespace {

using Outcome = Delivery::Outcome;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TraceFolder;

TEST(UrlTest, GetsAPathIfItHasNone) {
  EXPECT_EQ(*UrlWithPath("http://h:4318", "/v1"), "http://h:4318/v1");
  EXPECT_EQ(*UrlWithPath("https://h/", "/v1"), "https://h/v1");
  EXPECT_EQ(*UrlWithPath("http://h/other?x=1", "/v1"), "http://h/other?x=1");
  for (const char* wrong : {"", "h:4318", "file:///etc/passwd", "http://", "http://h/ x"}) {
    EXPECT_FALSE(UrlWithPath(wrong, "/v1").ok()) << wrong;
  }
}

TEST(UrlTest, PasswordsAreNotShown) {
  EXPECT_EQ(ShownUrl("http://me:secret@h:1/p?token=secret"), "http://h:1/p");
  EXPECT_EQ(ShownUrl("https://h/a@b"), "https://h/a@b");
  EXPECT_THAT(std::string(UrlWithPath("http://me:secret@h/ x", "/v1").status().message()),
              ::testing::Not(HasSubstr("secret")));
}

TEST(UrlTest, QueriesAreAdded) {
  EXPECT_EQ(WithQuery("http://h/ingest", "name=a"), "http://h/ingest?name=a");
  EXPECT_EQ(WithQuery("http://h/ingest?x=1", "name=a"), "http://h/ingest?x=1&name=a");
}

TEST(HttpHeadersTest, AreLines) {
  const TraceFolder folder("headers");
  std::ofstream(folder.File("good"))
      << "# of the collector\nAuthorization: Bearer x\r\n\nX-Org: 1\n";
  EXPECT_THAT(*ReadHeaders(folder.File("good")),
              ElementsAre("Authorization: Bearer x", "X-Org: 1"));
  std::ofstream(folder.File("bad")) << "X-Org: 1\nsecret\n";
  const std::string message(ReadHeaders(folder.File("bad")).status().message());
  EXPECT_THAT(message, HasSubstr("line 2 of"));
  EXPECT_THAT(message, ::testing::Not(HasSubstr("secret")));
  EXPECT_FALSE(ReadHeaders(folder.File("missing")).ok());
}

TEST(HttpOutcomeTest, OnlyWhatIsWrongWithTheTraceIsRefused) {
  for (const int64_t code : {200, 202, 204}) {
    EXPECT_EQ(OutcomeOf({.code = code}).outcome, Outcome::kDelivered) << code;
  }
  for (const int64_t code : {400, 413, 415, 422}) {
    EXPECT_EQ(OutcomeOf({.code = code}).outcome, Outcome::kRefused) << code;
  }
  for (const int64_t code : {301, 401, 403, 404, 408, 429, 500, 502, 503, 504}) {
    EXPECT_EQ(OutcomeOf({.code = code}).outcome, Outcome::kLater) << code;
  }
  const Delivery later =
      OutcomeOf({.code = 429, .text = "slow\ndown\n", .retry_after = absl::Seconds(7)});
  EXPECT_EQ(later.wait, absl::Seconds(7));
  EXPECT_EQ(later.message, "the server answers 429 (slow down)");
  EXPECT_THAT(OutcomeOf({.code = 401}).message, HasSubstr("--header-file"));
}

TEST(HttpOutcomeTest, ACollectorMayRejectProfiles) {
  EXPECT_EQ(OutcomeOfOtlp("").outcome, Outcome::kDelivered);
  // partial_success {error_message: "hm"}: only a warning.
  EXPECT_EQ(OutcomeOfOtlp("\x0a\x04\x12\x02hm").outcome, Outcome::kDelivered);
  // partial_success {rejected_profiles: 3, error_message: "no"}
  const Delivery rejected = OutcomeOfOtlp("\x0a\x06\x08\x03\x12\x02no");
  EXPECT_EQ(rejected.outcome, Outcome::kRefused);
  EXPECT_EQ(rejected.message, "the server rejected 3 profiles (no)");
}

TEST(HttpOutcomeTest, ACutOrOtherAnswerIsNoSuccess) {
  // The message is longer than what is there of it, but the number stands before it.
  const Delivery rejected = OutcomeOfOtlp("\x0a\xff\x01\x08\x03\x12\xfb\x01no");
  EXPECT_EQ(rejected.outcome, Outcome::kRefused);
  EXPECT_EQ(rejected.message, "the server rejected 3 profiles (no)");
  EXPECT_EQ(OutcomeOfOtlp("\x0a\xff\x01\x12\xfb\x01no").outcome, Outcome::kLater);
  EXPECT_EQ(OutcomeOfOtlp("<html>").outcome, Outcome::kLater);
}

TEST(CurlLibraryTest, WithoutItOneLineNamesTheRemedy) {
  const std::string message(LoadCurl("/nowhere/libcurl.so.4", "").status().message());
  EXPECT_THAT(message, HasSubstr("/nowhere/libcurl.so.4"));
  EXPECT_THAT(message, HasSubstr("--curl=PATH"));
  EXPECT_FALSE(LoadCurl("libcurl.so.4", "").ok());
}

}  // namespace
}  // namespace jtrace::ship
