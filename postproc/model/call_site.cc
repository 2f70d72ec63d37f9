#include "postproc/model/call_site.h"

#include <string_view>

namespace jtrace::postproc {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kCall = "\xe8"sv;
constexpr uint64_t kCallSize = 5;  // with the distance
// call *disp32(base,index): its second operand byte may look like a direct call.
constexpr std::string_view kIndirectCall = "\xff\x94"sv;
constexpr std::string_view kEndbr64 = "\xf3\x0f\x1e\xfa"sv;
constexpr std::string_view kBnd = "\xf2"sv;
constexpr std::string_view kJumpThrough = "\xff\x25"sv;

uint64_t SignExtended(int32_t distance) { return static_cast<uint64_t>(int64_t{distance}); }

}  // namespace

std::optional<uint64_t> DirectCallTarget(const ElfImage& image, uint64_t return_address) {
  const std::string_view call = image.BytesAt(return_address - kCallSize);
  if (!call.starts_with(kCall)) return std::nullopt;
  if (image.BytesAt(return_address - kCallSize - 2).starts_with(kIndirectCall)) return std::nullopt;
  const auto distance = ReadAt<int32_t>(call, kCall.size());
  if (!distance.has_value()) return std::nullopt;
  const uint64_t target = return_address + SignExtended(*distance);
  return image.IsCode(target) ? std::optional(target) : std::nullopt;
}

std::optional<uint64_t> JumpSlot(const ElfImage& image, uint64_t address) {
  const std::string_view code = image.BytesAt(address);
  uint64_t at = 0;
  for (const std::string_view prefix : {kEndbr64, kBnd}) {
    if (code.substr(at).starts_with(prefix)) at += prefix.size();
  }
  if (!code.substr(at).starts_with(kJumpThrough)) return std::nullopt;
  const auto distance = ReadAt<int32_t>(code, at + kJumpThrough.size());
  if (!distance.has_value()) return std::nullopt;
  return address + at + kJumpThrough.size() + sizeof *distance + SignExtended(*distance);
}

}  // namespace jtrace::postproc
