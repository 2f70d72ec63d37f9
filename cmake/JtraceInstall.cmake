# `cmake --install build --prefix DIR`: a tree that runs from any folder, with the shared libraries
# it needs in lib/jtrace (a portable build needs none). `cpack -G DEB` in the build folder: a package that depends on Debian's.
set(shared_libraries)
if(NOT JTRACE_PORTABLE)
  set(shared_libraries RUNTIME_DEPENDENCY_SET dependencies)
endif()
install(TARGETS jtrace_agent jtrace jtrace-post ${shared_libraries}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT jtrace
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT jtrace)
if(NOT JTRACE_PORTABLE)
  # Without the libraries that every system with a JVM has (glibc, libgcc).
  install(RUNTIME_DEPENDENCY_SET dependencies
          PRE_EXCLUDE_REGEXES "^ld-linux" "^libc\\." "^libm\\." "^libpthread" "^libdl" "^librt" "^libgcc_s"
          DESTINATION ${JTRACE_PRIVATE_LIBRARIES} COMPONENT bundle)
endif()
install(FILES ${JTRACE_JAR_DIRECTORY}/jtrace-api.jar ${JTRACE_JAR_DIRECTORY}/jtrace-junit5.jar
              ${JTRACE_JAR_DIRECTORY}/jtrace-jmh.jar
        DESTINATION ${CMAKE_INSTALL_DATADIR}/java COMPONENT jtrace)
install(FILES ${CMAKE_SOURCE_DIR}/agent/api/c/jtrace.h ${CMAKE_SOURCE_DIR}/agent/api/c/jtrace_find.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT jtrace)
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/CHANGELOG.md
              ${CMAKE_SOURCE_DIR}/postproc/web/NOTICE
        DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT jtrace)

set(CPACK_PACKAGE_NAME jtrace)
set(CPACK_PACKAGE_CONTACT "jtrace developers <developers@jtrace.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL jtrace)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
if(JTRACE_PORTABLE)
  # Completion and manual pages, which scripts/release.sh writes after the build. OPTIONAL: a build alone has none.
  install(DIRECTORY ${CMAKE_BINARY_DIR}/generated/share/ DESTINATION ${CMAKE_INSTALL_DATADIR} COMPONENT jtrace
          OPTIONAL)
  install(DIRECTORY ${JTRACE_DEPENDENCIES}/licenses DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT jtrace)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.31)")
else()
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
include(CPack)
