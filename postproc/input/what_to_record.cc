#include "postproc/input/what_to_record.h"

#include <utility>

namespace jtrace::postproc {
namespace {

constexpr std::string_view kSamples = "no samples; mode=merged and mode=samples record them";
constexpr std::string_view kEvents = "nothing was recorded; mode=merged records calls and samples";

constexpr std::pair<std::string_view, std::string_view> kHints[] = {
    {"tree", kEvents},
    {"flat", kEvents},
    {"bythread", kEvents},
    {"threads", kEvents},
    {"classes", kEvents},
    {"functions", kSamples},
    {"modules", kSamples},
    {"samples", kSamples},
    {"paths", kSamples},
    {"callees", "no samples of it; --metric=calls has the paths of counted calls"},
    {"callers", "no samples of it; --metric=calls has the paths of counted calls"},
    {"labels", "no samples with labels; the program sets them: JTrace.label of jtrace-api.jar"},
    {"waits", "no samples of waiting threads; timer=wall records them"},
    {"waited", "no waits for other threads; codes=+waited records them"},
    {"io", "no reads and writes; codes=+io records them"},
    {"segments", "no segments; the program names them: JTrace.segment of jtrace-api.jar"},
    {"metrics", "no metrics; metrics= records them, e.g. metrics=alloc.bytes"},
};

}  // namespace

std::string_view WhatToRecord(std::string_view report) {
  for (const auto& [name, hint] : kHints) {
    if (name == report) return hint;
  }
  return {};
}

}  // namespace jtrace::postproc
