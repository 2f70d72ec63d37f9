// Ids that every conversion computes alike: FNV-1a, over text, so that any language can compute
// them in a few lines.
#pragma once

#include <cstdint>
#include <string_view>

namespace jtrace::postproc::fleet {

// FNV-1a with 64 bits: of routines and runs.
constexpr int64_t StableId(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3U;
  return static_cast<int64_t>(hash);
}

// A call path: FNV-1a with 128 bits over the identities of its routines from the root, each
// followed by an end of line. The empty path is a thread's root.
class PathHash {
 public:
  constexpr PathHash() = default;

  constexpr PathHash Below(std::string_view identity) const {
    PathHash child = *this;
    for (const char c : identity) child.Add(c);
    child.Add('\n');
    return child;
  }
  constexpr int64_t high() const { return static_cast<int64_t>(state_ >> 64); }
  constexpr int64_t low() const { return static_cast<int64_t>(static_cast<uint64_t>(state_)); }
  friend constexpr bool operator==(const PathHash&, const PathHash&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const PathHash& it) {
    return H::combine(std::move(state), it.high(), it.low());
  }

 private:
  using Wide = unsigned __int128;
  constexpr void Add(char c) {
    constexpr Wide kPrime = (Wide{1} << 88) + 0x13b;
    state_ = (state_ ^ static_cast<uint8_t>(c)) * kPrime;
  }
  Wide state_ = (Wide{0x6c62272e07bb0142U} << 64) + 0x62b821756295c58dU;
};

}  // namespace jtrace::postproc::fleet
