# Compiler settings of every target of the tree.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(JTRACE_JAR_DIRECTORY ${CMAKE_BINARY_DIR}/jar)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

# JTRACE_ARCHITECTURE: x86_64 or aarch64. A source that only one of them can have names it at its end.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(JTRACE_ARCHITECTURE x86_64)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(JTRACE_ARCHITECTURE aarch64)
else()
  message(FATAL_ERROR "jtrace knows x86-64 and aarch64, not ${CMAKE_SYSTEM_PROCESSOR}")
endif()

# JTRACE_SANITIZE: empty, "address,undefined" or "thread". Then only code that runs without a JVM is built.
set(JTRACE_SANITIZE "" CACHE STRING "sanitizers for the code that runs without a JVM")
option(JTRACE_FUZZ "build the libFuzzer targets (needs clang)" OFF)
# Tests that start JVMs, and benchmarks: not under sanitizers, nor in another processor's code.
set(JTRACE_NATIVE ON)
if(JTRACE_SANITIZE OR CMAKE_CROSSCOMPILING)
  set(JTRACE_NATIVE OFF)
endif()

# JTRACE_UNITY: several sources a compiler run, and precompiled headers: they make a cold build much
# shorter. Sources still include what they use; OFF shows it.
option(JTRACE_UNITY "compile libraries in batches and with precompiled headers" ON)
set(CMAKE_UNITY_BUILD ${JTRACE_UNITY})
# Larger batches take less time in all, smaller ones less after a change.
set(JTRACE_BATCH 16 CACHE STRING "sources a compiler run (JTRACE_UNITY)")
set(CMAKE_UNITY_BUILD_BATCH_SIZE ${JTRACE_BATCH})

add_library(jtrace_warnings INTERFACE)
target_compile_options(jtrace_warnings INTERFACE -Wall -Wextra -Werror)
if(JTRACE_UNITY)
  # GCC 12 warns about std::string's own code if that is in a precompiled header.
  target_compile_options(jtrace_warnings INTERFACE
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-stringop-overflow>)
endif()

# GCC collects garbage whenever its heap has grown by a third, and reads the whole precompiled header
# each time. Without that a batch takes a tenth less time, and 1.5 GB at most.
# The linter, which reads these options, knows none of GCC's parameters.
if(JTRACE_UNITY)
  add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:SHELL:--param ggc-min-heapsize=1000000>")
endif()

if(JTRACE_SANITIZE)
  add_compile_options(-fsanitize=${JTRACE_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${JTRACE_SANITIZE})
  if(JTRACE_SANITIZE STREQUAL "thread")
    # ThreadSanitizer knows no fences; each of the servers with Asio runs on one thread.
    add_compile_definitions(BOOST_ASIO_DISABLE_FENCED_BLOCK)
  endif()
endif()
if(JTRACE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # ccache needs the first for precompiled headers; with the second it gets dependencies from the
  # compiler, which saves a run of the preprocessor for each new source.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1
      ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
