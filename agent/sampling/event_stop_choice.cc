#include "agent/sampling/event_stop_choice.h"

#include <sys/utsname.h>

#include <charconv>

namespace jtrace::sampling {
namespace {

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// "6.18.0-rc4", and Fedora's "6.18.0-0.rc3.251031g…"; not "6.18.2-arch1".
bool HasCandidate(std::string_view release) { return Has(release, "-rc") || Has(release, ".rc"); }

bool MayHang(std::string_view release) {
  const char* const end = release.data() + release.size();
  unsigned major = 0, minor = 0;
  const auto first = std::from_chars(release.data(), end, major);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '.') return true;
  if (std::from_chars(first.ptr + 1, end, minor).ec != std::errc()) return true;
  if (Has(release, ".el")) return true;
  return major == 6 && (minor == 16 || minor == 17 || (minor == 18 && HasCandidate(release)));
}

}  // namespace

std::string KernelRelease() {
  utsname name;
  return uname(&name) == 0 ? name.release : "";
}

hot::EventStop StopOf(const PerfEvent& event, std::string_view kernel_release) {
  return event.is_clock && MayHang(kernel_release) ? hot::EventStop::kByHand
                                                   : hot::EventStop::kByKernel;
}

}  // namespace jtrace::sampling
