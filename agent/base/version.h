// JTRACE_VERSION: the project's version, given by CMake.
#pragma once

#ifndef JTRACE_VERSION
#define JTRACE_VERSION "0.0.0"
#endif
