#include "postproc/page/page_report.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>

#include "postproc/page/page_data.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

void WritePage(std::string_view data, std::ostream& out) {
  constexpr std::string_view kMarker = "{{DATA}}";
  const std::string_view page = PageTemplate();
  const size_t marker = page.find(kMarker);
  out << page.substr(0, marker) << Base64(Gzipped(data)) << page.substr(marker + kMarker.size());
}

extern const Report kHtmlReport = {
    .name = "html",
    .group = ReportGroup::kTools,
    .summary = "one page with all pictures and tables, for a browser",
    .example = "jtrace-post --report=html -o report.html trace.bin",
    .accepts = kAcceptsRoot | kAcceptsThread | kAcceptsFold | kAcceptsScope | kAcceptsSites |
               kAcceptsSource | kAcceptsClasses,
    .instead = {{kAcceptsMetric, "the page has a menu of all measures"},
                {kAcceptsFilter, "the page has a filter"}},
    .document = [](const ReportInput& input,
                   std::ostream& out) { WritePage(PageData(input), out); },
};

namespace {

constexpr int kLevel = 6;
constexpr int kGzipWindow = 15 + 16;  // zlib: the largest window, gzip's header and trailer
constexpr int kMemoryLevel = 8;
constexpr size_t kStep = 1 << 18;

}  // namespace

std::string Gzipped(std::string_view bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, kLevel, Z_DEFLATED, kGzipWindow, kMemoryLevel, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    throw std::bad_alloc();
  }
  std::string packed;
  std::string step(kStep, '\0');
  int result = Z_OK;
  while (result != Z_STREAM_END) {
    const size_t take = std::min(bytes.size(), kStep);
    // zlib reads, but its interface predates const.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(take);
    bytes.remove_prefix(take);
    do {
      stream.next_out = reinterpret_cast<Bytef*>(step.data());
      stream.avail_out = static_cast<uInt>(kStep);
      result = deflate(&stream, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
      packed.append(step, 0, kStep - stream.avail_out);
    } while (stream.avail_out == 0);
  }
  deflateEnd(&stream);
  return packed;
}

std::string Base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t take = std::min<size_t>(bytes.size() - i, 3);
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j) {
      group = group << 8 | (j < take ? static_cast<uint8_t>(bytes[i + j]) : 0U);
    }
    for (size_t j = 0; j < 4; ++j) {
      text += j <= take ? kDigits[group >> (18 - 6 * j) & 63] : '=';
    }
  }
  return text;
}

}  // namespace jtrace::postproc
