// The page without data, and the data of a page.
#include "postproc/live/live_page.h"

#include <nlohmann/json.hpp>

#include "gtest/gtest.h"
#include "postproc/page/page_report.h"

namespace jtrace::live {
namespace {

using std::chrono::milliseconds;

// What build.mjs makes has the form that is looked for.
TEST(LivePageTest, TheTemplateMayFetchFromWhereItIs) {
  const std::string page(postproc::PageTemplate());
  const absl::StatusOr<LivePage> live = MakeLivePage(page);
  ASSERT_TRUE(live.ok()) << live.status();
  EXPECT_NE(live->html.find("; connect-src 'self'\">"), std::string::npos);
  EXPECT_NE(live->html.find(R"(id="profile" data-live="true"></script>)"), std::string::npos);
  EXPECT_EQ(live->html.find("{{"), std::string::npos);
  EXPECT_TRUE(live->policy.starts_with("default-src 'none'; script-src 'sha256-"));
  EXPECT_TRUE(
      live->policy.ends_with("form-action 'none'; connect-src 'self'; frame-ancestors 'none'"));
  EXPECT_EQ(page.find("connect-src"), std::string::npos);
}

TEST(LivePageTest, OtherPagesAreRejected) {
  for (const std::string_view page : {"", "<html>", "{{DATA}}", R"(id="profile">{{DATA}}<)",
                                      R"(http-equiv="Content-Security-Policy" content="x)"}) {
    EXPECT_FALSE(MakeLivePage(page).ok()) << page;
  }
  EXPECT_FALSE(DataOfPage("").ok());
  EXPECT_FALSE(DataOfPage(R"(<script id="profile">H4sI)").ok());
}

TEST(LivePageTest, TheDataIsWhatThePageEmbeds) {
  EXPECT_EQ(*DataOfPage(R"(<script id="profile">H4sI+/=</script> id="profile">x<)"), "H4sI+/=");
}

// An answer has data if they are newer than the page's; names may be any bytes.
TEST(LiveAnswerTest, OnlyNewerData) {
  LiveState state;
  state.phase = LiveState::Phase::kStopped;
  state.message = "no \"recording\"";
  state.serial = 3;
  state.data = "H4sI";
  const auto answer = [&](uint64_t after) {
    return nlohmann::json::parse(
        LiveAnswer({47, "a\xff"}, state, after, state.made + milliseconds(20)));
  };
  const nlohmann::json newer = answer(2);
  EXPECT_EQ(newer["state"], "stopped");
  EXPECT_EQ(newer["message"], "no \"recording\"");
  EXPECT_EQ(newer["pid"], 47);
  EXPECT_EQ(newer["program"], "a\xef\xbf\xbd");
  EXPECT_EQ(newer["age_ms"], 20);
  EXPECT_EQ(newer["data"], "H4sI");
  EXPECT_FALSE(answer(3).contains("data"));
}

}  // namespace
}  // namespace jtrace::live
