// The files that belong to this installation of jtrace, found from where this program is.
#pragma once

#include <string>

namespace jtrace::control {

// libjtrace.so beside this program: in the build tree and in every installed one; "" if it is not
// there.
std::string FindOwnLibrary();

// The path of jtrace-post beside this program.
std::string OwnPostProcessor();

// The lib folder beside it for other libraries, lib/jtrace; "" if it is not there.
std::string OwnLibraryFolder();

// libduckdb.so in the lib folder beside it, or "".
std::string FindOwnDuckDb();

}  // namespace jtrace::control
