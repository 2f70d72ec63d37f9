# `cmake --install build --prefix DIR` and `cpack -G DEB` (from the build folder).
set(CPACK_PACKAGE_NAME jtrace)
set(CPACK_PACKAGE_CONTACT "jtrace developers <developers@jtrace.invalid>")
set(CPACK_GENERATOR DEB)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/LICENSE
              ${CMAKE_SOURCE_DIR}/CHANGELOG.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
include(CPack)
