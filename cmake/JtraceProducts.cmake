# jtrace_product(TARGET FOLDER [EXPORTS NAMES…]): what is given to users. It finds its shared libraries
# in $ORIGIN/FOLDER once it is installed, else where the system has them, and nowhere else; it takes no
# part in exceptions of others, and of a library others find EXPORTS only. Checked at every build.
set(JTRACE_PRIVATE_LIBRARIES ${CMAKE_INSTALL_LIBDIR}/jtrace)

function(jtrace_product target folder)
  cmake_parse_arguments(ARG "" "" "EXPORTS" ${ARGN})
  # DT_RPATH, not DT_RUNPATH: the private libraries find each other by it too.
  target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
  # CMake's own path for the build folder would be padded with empty elements, each of which is the
  # current folder, whoever wrote into it.
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${folder}"
                                             BUILD_WITH_INSTALL_RPATH ON)
  add_custom_command(
    TARGET ${target} POST_BUILD
    COMMAND ${CMAKE_COMMAND} -DREADELF=${CMAKE_READELF} -DFILE=$<TARGET_FILE:${target}>
            -P ${CMAKE_SOURCE_DIR}/cmake/CheckRpath.cmake
    COMMAND ${CMAKE_COMMAND} -DREADELF=${CMAKE_READELF} -DFILE=$<TARGET_FILE:${target}> "-DEXPORTS=${ARG_EXPORTS}"
            -P ${CMAKE_SOURCE_DIR}/cmake/CheckExceptions.cmake
    VERBATIM)
endfunction()
