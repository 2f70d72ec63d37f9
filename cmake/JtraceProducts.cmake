# jtrace_product(TARGET FOLDER [EXPORTS NAMES…]): a target for users. It finds its shared libraries in
# $ORIGIN/FOLDER once it is installed, otherwise where the system has them, and nowhere else; it takes
# no part in exceptions of others; a library exports only EXPORTS. Checked at every build.
set(JTRACE_PRIVATE_LIBRARIES ${CMAKE_INSTALL_LIBDIR}/jtrace)

function(jtrace_product target folder)
  cmake_parse_arguments(ARG "" "" "EXPORTS" ${ARGN})
  # DT_RPATH, not DT_RUNPATH: the private libraries also find each other by it.
  target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
  # CMake would pad its own path for the build folder with empty elements, each of which means the
  # current folder, which anybody may have written.
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${folder}"
                                             BUILD_WITH_INSTALL_RPATH ON)
  set(check_system)
  if(JTRACE_PORTABLE)
    target_link_libraries(${target} PRIVATE jtrace_old_glibc_symbols jtrace_old_glibc)
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL
                        -Wl,--gc-sections -Wl,--as-needed
                        # A weak reference alone takes nothing from an archive.
                        -Wl,-u,__cxa_pure_virtual)
    set(check_system COMMAND ${CMAKE_COMMAND} -DREADELF=${CMAKE_READELF} -DFILE=$<TARGET_FILE:${target}>
                     -P ${CMAKE_SOURCE_DIR}/cmake/CheckPortable.cmake)
  endif()
  add_custom_command(
    TARGET ${target} POST_BUILD
    ${check_system}
    COMMAND ${CMAKE_COMMAND} -DREADELF=${CMAKE_READELF} -DFILE=$<TARGET_FILE:${target}>
            -P ${CMAKE_SOURCE_DIR}/cmake/CheckRpath.cmake
    COMMAND ${CMAKE_COMMAND} -DREADELF=${CMAKE_READELF} -DFILE=$<TARGET_FILE:${target}> "-DEXPORTS=${ARG_EXPORTS}"
            -P ${CMAKE_SOURCE_DIR}/cmake/CheckExceptions.cmake
    VERBATIM)
endfunction()
