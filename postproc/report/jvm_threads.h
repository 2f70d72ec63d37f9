// Which threads are the JVM's own or the agent's, by the names that HotSpot gives them.
#pragma once

#include <string_view>

namespace jtrace::postproc {

enum class JvmThread { kNone, kJit, kCollector, kOther, kJtrace };
// Linux keeps 15 characters of a name.
JvmThread JvmThreadOf(std::string_view name);

}  // namespace jtrace::postproc
