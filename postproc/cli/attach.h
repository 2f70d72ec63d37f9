// A client of HotSpot's attach protocol: loads an agent as jcmd does.
//
// The JVM listens at /tmp/.java_pidN, where N is its own pid. It begins to listen when it finds a
// file .attach_pidN of its user in /tmp at a SIGQUIT. A request is "1", the command and three
// arguments, each ended by a zero byte; the answer is a line with a number, then text.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "postproc/cli/jvm_process.h"

namespace jtrace::control {

// Loads the library at `path` (as the JVM sees it) and calls its Agent_OnAttach with `options`, at
// most 1,000 bytes. Errors are one line with the remedy. Unavailable: the JVM does not answer.
absl::Status LoadAgent(const JvmProcess& jvm, const std::string& path, std::string_view options,
                       std::chrono::milliseconds patience = std::chrono::seconds(10));

// The meaning of the JVM's answer to "load": OK, or why the agent did not start.
absl::Status ReadLoadAnswer(std::string_view answer);

}  // namespace jtrace::control
