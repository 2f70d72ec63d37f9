// Which requests the live page answers.
#include "postproc/live/access.h"

#include <set>

#include "gtest/gtest.h"

namespace jtrace::live {
namespace {

constexpr std::string_view kToken = "0123456789abcdef";
constexpr std::string_view kBearer = "Bearer 0123456789abcdef";
constexpr std::string_view kHost = "127.0.0.1:4000";

Verdict Judged(const Asked& asked, uint16_t port = 4000) {
  return Access(std::string(kToken), port).Judge(asked);
}

TEST(AccessTest, DataNeedsTheToken) {
  EXPECT_EQ(Judged({"GET", "/data", kHost, kBearer}), Verdict::kData);
  EXPECT_EQ(Judged({"HEAD", "/data?after=3", kHost, kBearer}), Verdict::kData);
  for (const std::string_view other :
       {"", "Bearer", "Bearer ", "0123456789abcdef", "bearer 0123456789abcdef",
        "Bearer 0123456789abcde", "Bearer 0123456789abcdeF", "Bearer 0123456789abcdef0",
        "Basic 0123456789abcdef"}) {
    EXPECT_EQ(Judged({"GET", "/data", kHost, other}), Verdict::kForbidden) << other;
  }
  EXPECT_EQ(Judged({"GET", "/data?token=0123456789abcdef", kHost, ""}), Verdict::kForbidden);
}

// The page itself is the same in every installation.
TEST(AccessTest, ThePageNeedsNone) {
  EXPECT_EQ(Judged({"GET", "/", kHost, ""}), Verdict::kPage);
  EXPECT_EQ(Judged({"HEAD", "/?x", kHost, ""}), Verdict::kPage);
}

TEST(AccessTest, OnlyNamesOfThisMachine) {
  EXPECT_EQ(Judged({"GET", "/data", "localhost:4000", kBearer}), Verdict::kData);
  for (const std::string_view other :
       {"", "127.0.0.1", "localhost", "127.0.0.1:4001", "127.0.0.1:40000", "evil.example:4000",
        "127.0.0.1:4000.evil.example", "127.0.0.2:4000", "[::1]:4000"}) {
    EXPECT_EQ(Judged({"GET", "/data", other, kBearer}), Verdict::kForbidden) << other;
    EXPECT_EQ(Judged({"GET", "/", other, ""}), Verdict::kForbidden) << other;
  }
  EXPECT_EQ(Judged({"GET", "/data", "localhost", kBearer}, 80), Verdict::kData);
}

TEST(AccessTest, NothingIsWritten) {
  for (const std::string_view method : {"POST", "PUT", "DELETE", "OPTIONS", "PATCH", "get", ""}) {
    EXPECT_EQ(Judged({method, "/data", kHost, kBearer}), Verdict::kMethodNotAllowed) << method;
  }
}

TEST(AccessTest, OtherPathsAreOnlyForThoseWithTheToken) {
  EXPECT_EQ(Judged({"GET", "/other", kHost, ""}), Verdict::kForbidden);
  for (const std::string_view other : {"", "/other", "/data/", "//", "/../data", "*", "/DATA"}) {
    EXPECT_EQ(Judged({"GET", other, kHost, kBearer}), Verdict::kNotFound) << other;
  }
}

TEST(AccessTest, TheAddressHasTheTokenWhereNoRequestCarriesIt) {
  EXPECT_EQ(Access("ab", 81).Url(), "http://127.0.0.1:81/#token=ab");
}

TEST(AccessTest, TokensDiffer) {
  std::set<std::string> tokens;
  for (int i = 0; i < 100; ++i) tokens.insert(NewToken());
  EXPECT_EQ(tokens.size(), 100u);
  for (const std::string& token : tokens) {
    EXPECT_EQ(token.size(), 64u);
    EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), std::string::npos);
  }
}

TEST(AccessTest, SecretsAreComparedWhole) {
  EXPECT_TRUE(IsSameSecret("", ""));
  EXPECT_TRUE(IsSameSecret("abc", "abc"));
  for (const std::string_view other : {"", "ab", "abcd", "Abc", "aBc", "abC", "ab\xe3"}) {
    EXPECT_FALSE(IsSameSecret("abc", other)) << other;
  }
}

TEST(AccessTest, TheNumberOfTheDataThatTheClientHas) {
  EXPECT_EQ(AfterOf("/data?after=17"), 17u);
  EXPECT_EQ(AfterOf("/data"), 0u);
  EXPECT_EQ(AfterOf("/data?after="), 0u);
  EXPECT_EQ(AfterOf("/data?after=-1"), 0u);
  EXPECT_EQ(AfterOf("/data?after=99999999999999999999"), 0u);
}

}  // namespace
}  // namespace jtrace::live
