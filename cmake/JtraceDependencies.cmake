# All dependencies are Debian packages (scripts/setup.sh installs them).
find_package(Threads REQUIRED)
include(JtracePortable)
if(NOT JTRACE_PORTABLE)
  find_package(absl REQUIRED)
  find_package(Protobuf REQUIRED)
  find_package(ZLIB REQUIRED)
  find_package(Zydis REQUIRED)
  find_package(nlohmann_json REQUIRED)
  find_package(Boost 1.74 REQUIRED)  # headers only
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
endif()

# The parts of Abseil that the cold code may use.
add_library(jtrace_abseil INTERFACE)
target_link_libraries(jtrace_abseil INTERFACE
  absl::base absl::btree absl::cleanup absl::flat_hash_map absl::flat_hash_set absl::function_ref absl::span
  absl::status absl::statusor absl::str_format absl::strings absl::synchronization absl::time Threads::Threads)

# The JDK whose headers and javac the build uses: 17, so that the agent's class also loads there.
find_path(JTRACE_JDK_HOME NAMES include/jvmti.h
          HINTS ENV JTRACE_JDK_HOME
          PATHS /usr/lib/jvm/java-17-openjdk-amd64 /usr/lib/jvm/java-17-openjdk
                /usr/lib/jvm/default-java
          DOC "JDK 17 with headers" REQUIRED NO_DEFAULT_PATH)
add_library(jtrace_jdk_headers INTERFACE)
target_include_directories(jtrace_jdk_headers SYSTEM INTERFACE
                           ${JTRACE_JDK_HOME}/include ${JTRACE_JDK_HOME}/include/linux)
# The encoding does not depend on the locale.
set(JTRACE_JAVAC ${JTRACE_JDK_HOME}/bin/javac -encoding UTF-8)
set(JTRACE_JAR ${JTRACE_JDK_HOME}/bin/jar)

if(BUILD_TESTING OR NOT DEFINED BUILD_TESTING)
  find_package(GTest REQUIRED)
  # The reference for the stack walker's tests. No product links with it (cmake/CheckExceptions.cmake).
  if(JTRACE_ARCHITECTURE STREQUAL x86_64)
    pkg_check_modules(LIBUNWIND REQUIRED IMPORTED_TARGET libunwind)
  endif()
  if(JTRACE_NATIVE)
    find_package(benchmark REQUIRED)
  endif()
endif()
