# jtrace_product(TARGET FOLDER [EXPORTS NAMES…]): a target for users. It finds its shared libraries in
# $ORIGIN/FOLDER once it is installed, otherwise where the system has them, and nowhere else; it takes
# no part in exceptions of others; a library exports only EXPORTS. In a portable build it has no shared
# libraries but the C library. Checked at every build.
set(JTRACE_PRIVATE_LIBRARIES ${CMAKE_INSTALL_LIBDIR}/jtrace)

function(jtrace_product target folder)
  cmake_parse_arguments(ARG "" "" "EXPORTS" ${ARGN})
  if(JTRACE_PORTABLE)
    jtrace_link_portably(${target})
    # A library's version script decides for the libraries in it, too.
    if(NOT ARG_EXPORTS)
      target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL)
    endif()
  else()
    # DT_RPATH, not DT_RUNPATH: the private libraries also find each other by it.
    target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
    # CMake would pad its own path for the build folder with empty elements, each of which means the
    # current folder, which anybody may have written.
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${folder}"
                                               BUILD_WITH_INSTALL_RPATH ON)
  endif()
  set(checks CheckRpath CheckExceptions)
  if(JTRACE_PORTABLE)
    list(APPEND checks CheckPortable)
  elseif(JTRACE_NATIVE AND JTRACE_ARCHITECTURE STREQUAL x86_64)
    # What a release could not link is found here, too.
    add_dependencies(${target} jtrace_old_glibc_symbols)
    add_custom_command(
      TARGET ${target} POST_BUILD
      COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/scripts/check_old_glibc.py --nm ${CMAKE_NM}
              --compiler ${CMAKE_CXX_COMPILER} --old-glibc $<TARGET_OBJECTS:jtrace_old_glibc_symbols>
              $<TARGET_FILE:${target}>
      VERBATIM)
  endif()
  foreach(check IN LISTS checks)
    add_custom_command(
      TARGET ${target} POST_BUILD
      COMMAND ${CMAKE_COMMAND} -DREADELF=${CMAKE_READELF} -DFILE=$<TARGET_FILE:${target}> "-DEXPORTS=${ARG_EXPORTS}"
              -P ${CMAKE_SOURCE_DIR}/cmake/${check}.cmake
      VERBATIM)
  endforeach()
endfunction()
