// The files that belong to this installation of jtrace, found from where this program is.
#pragma once

#include <filesystem>
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

// The same beside a program of `folder`; "" if that is empty: where this program is, is not known.
std::string FindLibraryBeside(const std::filesystem::path& folder);
std::string FindDuckDbBeside(const std::filesystem::path& folder);

}  // namespace jtrace::control
