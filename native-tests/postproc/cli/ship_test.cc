// The command line of `jtrace ship`.
#include <gmock/gmock.h>

#include <filesystem>

#include "postproc/cli/ship_options.h"

namespace jtrace::control {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Wrong(const std::vector<std::string>& rest) {
  return std::string(ReadShipOptions(::testing::TempDir(), rest).status().message());
}

TEST(ShipOptionsTest, ReadsThem) {
  const auto options = ReadShipOptions(
      ::testing::TempDir(),
      {"--to=parquet:/data/", "--to=otlp:http://c:4318", "--to=pprof:http://p/x", "--once",
       "--label=service=shop", "--interval=5s", "--timeout=2s", "--retain=2d", "--retain=5GB",
       "--spool=1GB", "--niceness=0", "--metrics-file=/m/ship.prom", "--header-file=/h"});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_THAT(options->tables, ElementsAre("/data"));
  ASSERT_EQ(options->servers.size(), 2U);
  EXPECT_EQ(options->servers[0].url, "http://c:4318/v1development/profiles");
  EXPECT_EQ(options->servers[0].format, ship::ProfileFormat::kOtlp);
  EXPECT_EQ(options->servers[1].url, "http://p/x");
  EXPECT_EQ(options->servers[1].format, ship::ProfileFormat::kPprof);
  EXPECT_EQ(options->servers[1].header_file, "/h");
  EXPECT_EQ(options->servers[1].longest, absl::Seconds(2));
  EXPECT_TRUE(options->once);
  EXPECT_EQ(options->policy.interval, absl::Seconds(5));
  EXPECT_EQ(options->policy.shipped.longest, absl::Hours(48));
  EXPECT_EQ(options->policy.shipped.most_bytes, uint64_t{5} << 30);
  EXPECT_EQ(options->policy.most_waiting_bytes, uint64_t{1} << 30);
  EXPECT_EQ(options->policy.metrics_file, "/m/ship.prom");
  EXPECT_EQ(options->niceness, 0);
  EXPECT_THAT(options->labels, ElementsAre("service=shop"));
}

TEST(ShipOptionsTest, ErrorsNameTheRemedy) {
  EXPECT_THAT(std::string(ReadShipOptions("/nowhere", {}).status().message()),
              HasSubstr("there is no folder /nowhere"));
  EXPECT_THAT(Wrong({}), HasSubstr("ship needs a target"));
  EXPECT_THAT(Wrong({"--to=data"}), HasSubstr("parquet:FOLDER, otlp:URL or pprof:URL"));
  EXPECT_THAT(Wrong({"--to=parquet:"}), HasSubstr("parquet:FOLDER"));
  EXPECT_THAT(Wrong({"--to=otlp:localhost"}), HasSubstr("is not a URL such as"));
  EXPECT_THAT(Wrong({"--label=team=a"}), HasSubstr("--label: 'team' is unknown"));
  EXPECT_THAT(Wrong({"--interval=0s"}), HasSubstr("is not a time from"));
  EXPECT_THAT(Wrong({"--spool=1d"}), HasSubstr("is not a size"));
  EXPECT_THAT(Wrong({"--niceness=20"}), HasSubstr("0 to 19"));
  EXPECT_THAT(Wrong({"--retian=1d"}), HasSubstr("nearest: --retain"));
  EXPECT_THAT(Wrong({"--to"}), HasSubstr("is not an option with a value"));
}

}  // namespace
}  // namespace jtrace::control
