// What an empty report needs of the recording.
#pragma once

#include <string_view>

namespace jtrace::postproc {

// "no samples: record with …"; empty: there is no such option, or the report says it by itself.
std::string_view WhatToRecord(std::string_view report);

}  // namespace jtrace::postproc
