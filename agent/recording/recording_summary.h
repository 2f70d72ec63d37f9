// What a recording says of itself: in its trace, on stderr, and as losses. On the thread of a
// start, a stop or a command.
#pragma once

#include <string>

#include "agent/recording/recording_parts.h"
#include "proto/trace.pb.h"

namespace jtrace {

// Asks the JVM which program it runs, on a thread that the JVM knows.
void NameProgram(RecordingParts& parts);
// The first record of the recording's first file, and of a next one. Any thread.
proto::SessionStart DescribeStart(const RecordingParts& parts);
proto::SessionStart DescribeNextFile(const RecordingParts& parts);
// The trace's last record.
void FinishEnd(const RecordingParts& parts, proto::SessionEnd::Reason reason,
               proto::SessionEnd& end);
// A line for people: what was written, and how to see it.
std::string DescribeEnd(const RecordingParts& parts, proto::SessionEnd::Reason reason);
// A line about the files that were ended, if keep= is given; it begins with a line break.
std::string DescribeEndedFiles(RecordingParts& parts);
// A line for each loss that is more than an information; each begins with a line break.
std::string DescribeWarnings(const RecordingParts& parts);

// Losses that are known at the start: what JVMTI offers only at load, and that the JVM does not
// report why it collects garbage.
void ReportWhatComesTooLate(const RecordingParts& parts);
void ReportGcCause(const RecordingParts& parts);
// Losses that are known at the end: patterns of include= and unwind= that nothing matched.
void ReportEmptyScope(const RecordingParts& parts);
void ReportUnmatchedUnwinds(const RecordingParts& parts);

}  // namespace jtrace
