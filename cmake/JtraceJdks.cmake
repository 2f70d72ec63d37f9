# JTRACE_TEST_JDKS: one JDK of each feature release from 17 on that is on this machine.

# The feature release of a JDK ("17"), or "" if there is none at that path.
function(jtrace_jdk_major home result)
  set(${result} "" PARENT_SCOPE)
  if(EXISTS ${home}/release AND EXISTS ${home}/bin/java)
    file(STRINGS ${home}/release line REGEX "^JAVA_VERSION=")
    if(line MATCHES "\"([0-9]+)")
      set(${result} ${CMAKE_MATCH_1} PARENT_SCOPE)
    endif()
  endif()
endfunction()

# build/jdks: the runtimes that scripts/jdks.sh downloaded.
file(GLOB candidates /usr/lib/jvm/* ${CMAKE_SOURCE_DIR}/build/jdks/*)
list(PREPEND candidates ${JTRACE_JDK_HOME} $ENV{JAVA_HOME})
set(JTRACE_TEST_JDKS "")
set(majors "")
foreach(candidate IN LISTS candidates)
  jtrace_jdk_major(${candidate} major)
  if(major AND major GREATER_EQUAL 17 AND NOT major IN_LIST majors)
    list(APPEND majors ${major})
    list(APPEND JTRACE_TEST_JDKS ${candidate})
  endif()
endforeach()
list(JOIN majors ", " found)
message(STATUS "JDKs under test: ${found}")
