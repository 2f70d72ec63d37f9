# Compiler settings that hold for every target of the tree.
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

# JTRACE_SANITIZE: empty, "address,undefined" or "thread". Only what runs without a JVM is built then.
set(JTRACE_SANITIZE "" CACHE STRING "sanitizers for the code that runs without a JVM")
option(JTRACE_FUZZ "build the libFuzzer targets (needs clang)" OFF)

add_library(jtrace_warnings INTERFACE)
target_compile_options(jtrace_warnings INTERFACE -Wall -Wextra -Werror)

if(JTRACE_SANITIZE)
  add_compile_options(-fsanitize=${JTRACE_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${JTRACE_SANITIZE})
endif()
if(JTRACE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()
