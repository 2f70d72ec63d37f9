// A report that is written while the trace is read, record by record: its memory does not grow with
// the trace (Report::stream).
#pragma once

#include "absl/status/status.h"
#include "postproc/model/record_visitor.h"

namespace jtrace::postproc {

class RecordWriter : public RecordVisitor {
 public:
  // Call once, after the last record. An error says why nothing was written, and what to do.
  virtual absl::Status Finish() = 0;
};

}  // namespace jtrace::postproc
