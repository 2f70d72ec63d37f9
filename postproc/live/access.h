// Which requests to the live page are answered. Pure rules: no socket here.
//
// Every process of this machine can reach 127.0.0.1, and so can scripts of any site in the user's
// browser. Against the first there is the token; against the second, which may let a name of theirs
// lead to 127.0.0.1 (DNS rebinding), the check of Host as well.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace jtrace::live {

// What of a request the rules look at.
struct Asked {
  std::string_view method;
  std::string_view target;         // "/data?after=3"
  std::string_view host;           // "" if there is no header Host, or several
  std::string_view authorization;  // "" if there is none
};

enum class Verdict {
  kPage,              // the page without data: the same for everyone, so it needs no token
  kData,              // what was recorded
  kForbidden,         // 403: no token, a wrong one, or a foreign name for this machine
  kNotFound,          // 404
  kMethodNotAllowed,  // 405: nothing can be changed from here
};

// How the page gets its token: in the fragment of the URL that jtrace prints, which no browser
// sends anywhere; it returns as `Authorization: Bearer TOKEN`. A cookie would go to every port of
// 127.0.0.1, so also to a server of another user; a token in the query would be in request lines.
class Access {
 public:
  Access(std::string token, uint16_t port) : token_(std::move(token)), port_(port) {}

  Verdict Judge(const Asked& asked) const;
  // "http://127.0.0.1:PORT/#token=TOKEN"
  std::string Url() const;

 private:
  bool IsOwnHost(std::string_view host) const;
  bool HasToken(std::string_view authorization) const;

  std::string token_;
  uint16_t port_;
};

// 256 bits of the kernel, in hexadecimal digits.
std::string NewToken();

// Takes as long wherever texts of one length differ.
bool IsSameSecret(std::string_view a, std::string_view b);

// The number of the data that the client has: 3 of "/data?after=3"; 0 if there is none.
uint64_t AfterOf(std::string_view target);

}  // namespace jtrace::live
