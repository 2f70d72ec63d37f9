#include "postproc/live/live_page.h"

#include <nlohmann/json.hpp>

#include "postproc/support/strings.h"

namespace jtrace::live {
namespace {

using postproc::StrCat;

constexpr std::string_view kMarker = "{{DATA}}";
constexpr std::string_view kProfile = R"(id="profile">)";
constexpr std::string_view kLiveProfile = R"(id="profile" data-live="true">)";
constexpr std::string_view kPolicy = R"(http-equiv="Content-Security-Policy" content=")";

absl::Status OtherForm() {
  return absl::InternalError("the page has another form than jtrace knows; install both anew");
}

bool Replace(std::string& text, std::string_view what, std::string_view by) {
  const size_t at = text.find(what);
  if (at == std::string::npos) return false;
  text.replace(at, what.size(), by);
  return true;
}

}  // namespace

absl::StatusOr<LivePage> MakeLivePage(std::string_view page_template) {
  LivePage page{std::string(page_template), ""};
  if (!Replace(page.html, kMarker, "") || !Replace(page.html, kProfile, kLiveProfile)) {
    return OtherForm();
  }
  const size_t begin = page.html.find(kPolicy);
  if (begin == std::string::npos) return OtherForm();
  const size_t end = page.html.find('"', begin + kPolicy.size());
  if (end == std::string::npos) return OtherForm();
  const std::string kept = page.html.substr(begin + kPolicy.size(), end - begin - kPolicy.size());
  page.html.insert(end, "; connect-src 'self'");
  page.policy = StrCat(kept, "; connect-src 'self'; frame-ancestors 'none'");
  return page;
}

absl::StatusOr<std::string_view> DataOfPage(std::string_view page) {
  const size_t mark = page.find(kProfile);
  if (mark == std::string_view::npos) return OtherForm();
  const size_t begin = mark + kProfile.size();
  const size_t end = page.find('<', begin);
  if (end == std::string_view::npos) return OtherForm();
  return page.substr(begin, end - begin);
}

namespace {

const char* NameOf(LiveState::Phase phase) {
  switch (phase) {
    case LiveState::Phase::kLive:
      return "live";
    case LiveState::Phase::kStopped:
      return "stopped";
    case LiveState::Phase::kEnded:
      break;
  }
  return "ended";
}

}  // namespace

std::string LiveAnswer(const LiveJvmFacts& jvm, const LiveState& state, uint64_t after,
                       std::chrono::steady_clock::time_point now) {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  nlohmann::json answer = {{"state", NameOf(state.phase)}, {"pid", jvm.pid},
                           {"program", jvm.program},       {"message", state.message},
                           {"serial", state.serial},       {"cost_ms", state.cost.count()}};
  if (state.serial != 0) answer["age_ms"] = duration_cast<milliseconds>(now - state.made).count();
  if (state.serial > after) answer["data"] = state.data;
  // Command lines of programs may contain any bytes.
  return answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace jtrace::live
