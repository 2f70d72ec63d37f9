#pragma once

// Given by CMake from the project's version.
#ifndef JTRACE_VERSION
#define JTRACE_VERSION "0.0.0"
#endif
