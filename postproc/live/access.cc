#include "postproc/live/access.h"

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "postproc/support/random_bytes.h"
#include "postproc/support/strings.h"

namespace jtrace::live {
namespace {

using postproc::StrCat;

constexpr size_t kTokenBytes = 32;
constexpr std::string_view kScheme = "Bearer ";

std::string_view PathOf(std::string_view target) { return target.substr(0, target.find('?')); }

}  // namespace

Verdict Access::Judge(const Asked& asked) const {
  if (!IsOwnHost(asked.host)) return Verdict::kForbidden;
  if (asked.method != "GET" && asked.method != "HEAD") return Verdict::kMethodNotAllowed;
  const std::string_view path = PathOf(asked.target);
  if (path == "/") return Verdict::kPage;
  // Before the path is looked at: strangers do not learn which there are.
  if (!HasToken(asked.authorization)) return Verdict::kForbidden;
  return path == "/data" ? Verdict::kData : Verdict::kNotFound;
}

// Browsers leave out the port if it is 80.
bool Access::IsOwnHost(std::string_view host) const {
  for (const std::string_view name : {"127.0.0.1", "localhost"}) {
    if (host == StrCat(name, ":", port_) || (port_ == 80 && host == name)) return true;
  }
  return false;
}

bool Access::HasToken(std::string_view authorization) const {
  return authorization.starts_with(kScheme) &&
         IsSameSecret(authorization.substr(kScheme.size()), token_);
}

std::string Access::Url() const { return StrCat("http://127.0.0.1:", port_, "/#token=", token_); }

std::string NewToken() { return absl::BytesToHexString(postproc::RandomBytes(kTokenBytes)); }

bool IsSameSecret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char different = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    different = static_cast<unsigned char>(different | (a[i] ^ b[i]));
    asm volatile("" : "+r"(different));  // the compiler must not leave the loop early
  }
  return different == 0;
}

uint64_t AfterOf(std::string_view target) {
  constexpr std::string_view kAfter = "?after=";
  const size_t begin = target.find(kAfter);
  uint64_t number = 0;
  if (begin == std::string_view::npos) return 0;
  const std::string_view text = target.substr(begin + kAfter.size());
  return absl::SimpleAtoi(absl::string_view(text.data(), text.size()), &number) ? number : 0;
}

}  // namespace jtrace::live
