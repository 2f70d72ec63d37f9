#include "postproc/report/units.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_format.h"
#include "common/thousands.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {

std::string FormatCount(int64_t value) { return WithThousands(value); }

std::string Counted(int64_t count, std::string_view what, std::string_view plural) {
  std::string text = FormatCount(count).append(" ");
  if (count != 1 && !plural.empty()) return text.append(plural);
  return text.append(what).append(count == 1 ? "" : "s");
}

std::string CountedText(int64_t count, std::string_view what) {
  std::string text = StrCat(FormatCount(count), " ", what);
  if (count != 1) return text;
  // The noun is the first or the second word: "chunks", "event logs", but not "class".
  size_t begin = 0;
  for (int word = 0; word < 3 && begin < text.size(); ++word) {
    const size_t end = std::min(text.find_first_of(" ,", begin), text.size());
    if (word > 0 && text[end - 1] == 's' && !text.substr(0, end).ends_with("ss")) {
      text.erase(end - 1, 1);
      break;
    }
    begin = end + 1;
  }
  constexpr std::pair<std::string_view, std::string_view> kVerbs[] = {
      {" belong ", " belongs "}, {" differ ", " differs "}, {" to their ", " to its "}};
  for (const auto& [plural, singular] : kVerbs) ReplaceAll(text, plural, singular);
  return text;
}

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
