// Reports in formats that other tools read (Report::document, Report::stream), each in the file of
// its name. All show the tree that the reports show, with its measures, or the counts of lines;
// README.md says what each format leaves out.
#pragma once

#include <memory>
#include <ostream>

#include "postproc/report/report.h"

namespace jtrace::postproc {

void WriteCollapsed(const ReportInput& input, std::ostream& out);
void WriteCallgrind(const ReportInput& input, std::ostream& out);
void WriteSpeedscope(const ReportInput& input, std::ostream& out);
void WritePprof(const ReportInput& input, std::ostream& out);
void WriteOtlp(const ReportInput& input, std::ostream& out);
// Counts of lines (blocks=on), for tools that show coverage.
void WriteLcov(const ReportInput& input, std::ostream& out);
void WriteJacoco(const ReportInput& input, std::ostream& out);
void WriteCobertura(const ReportInput& input, std::ostream& out);
std::unique_ptr<RecordWriter> MakePerfettoWriter(const TraceModel& model,
                                                 const ReportOptions& options, std::ostream& out);
std::unique_ptr<RecordWriter> MakeJfrWriter(const TraceModel& model, const ReportOptions& options,
                                            std::ostream& out);

}  // namespace jtrace::postproc
