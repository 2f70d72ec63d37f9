#include "postproc/report/units.h"

#include <cmath>

#include "absl/strings/str_format.h"
#include "common/counted.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {

std::string FormatCount(int64_t value) { return WithThousands(value); }

std::string Counted(int64_t count, std::string_view what, std::string_view plural) {
  return WithNoun(count, what, plural);
}

std::string CountedText(int64_t count, std::string_view what) { return WithText(count, what); }

std::string FormatPercent(double percent) { return absl::StrFormat("%.1f %%", percent); }

namespace {

struct Scale {
  double factor;
  const char* unit;
};

// Three to four significant digits in the greatest unit that leaves at least 1.
template <size_t N>
std::string FormatScaled(double value, const Scale (&scales)[N]) {
  if (value == 0) return "0";
  const Scale* chosen = &scales[N - 1];
  for (const Scale& scale : scales) {
    // 0.9995 of a unit would round to 1.000 of it.
    if (std::fabs(value) >= scale.factor * 0.9995) {
      chosen = &scale;
      break;
    }
  }
  const double scaled = value / chosen->factor;
  const double size = std::fabs(scaled);
  const int decimals = chosen->factor == 1 && scaled == std::floor(scaled) ? 0
                       : size < 10                                         ? 2
                       : size < 100                                        ? 1
                                                                           : 0;
  return absl::StrFormat("%.*f %s", decimals, scaled, chosen->unit);
}

}  // namespace

std::string FormatNanoseconds(double ns) {
  static constexpr Scale kScales[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}};
  return FormatScaled(ns, kScales);
}

std::string FormatBytes(double bytes) {
  static constexpr Scale kScales[] = {
      {1073741824., "GiB"}, {1048576., "MiB"}, {1024., "KiB"}, {1, "B"}};
  return FormatScaled(bytes, kScales);
}

double PercentOf(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string Units::Time(int64_t value) const {
  const int64_t factor = NanosecondsPer(time);
  if (factor == 0) return FormatCount(value);
  return FormatNanoseconds(static_cast<double>(value) * static_cast<double>(factor));
}

std::string Units::Ticks(int64_t value) const {
  if (interval_ns == 0) return FormatCount(value);
  return FormatNanoseconds(static_cast<double>(value) * static_cast<double>(interval_ns));
}

}  // namespace jtrace::postproc
