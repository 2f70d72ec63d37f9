// The findings of --report=findings as data of the page.
#pragma once

#include "common/json_writer.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

// The key "findings"; none below --root, which has a part of the tree only.
void WritePageFindings(const ReportInput& input, JsonWriter& json);

}  // namespace jtrace::postproc
