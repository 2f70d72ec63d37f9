# cmake -DREADELF=… -DFILE=… -P CheckPortable.cmake: fails if FILE needs more of a system than a C library of
# version 2.31, or defines for others what those libraries define that it contains.
cmake_policy(VERSION 3.25)
set(newest 2.31)
include(${CMAKE_CURRENT_LIST_DIR}/DynamicSection.cmake)
dynamic_entries(${FILE} NEEDED needed)
foreach(library IN LISTS needed)
  if(NOT library MATCHES "^'(libc\\.so\\.6|libm\\.so\\.6|libpthread\\.so\\.0|libdl\\.so\\.2|librt\\.so\\.1|ld-linux-x86-64\\.so\\.2)'$")
    message(FATAL_ERROR "${FILE} needs ${library}, which a system may lack")
  endif()
endforeach()

# Versions of the C library, also those that no symbol has (GLIBC_ABI_DT_RELR).
execute_process(COMMAND ${READELF} --version-info --wide ${FILE} OUTPUT_VARIABLE versions
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "Name: GLIBC_[^ \n]+" versions "${versions}")
if(NOT versions)
  message(FATAL_ERROR "${FILE} names no version of the C library")
endif()
foreach(version IN LISTS versions)
  string(REGEX REPLACE ".*GLIBC_" "" version "${version}")
  if(NOT version MATCHES "^[0-9.]+$" OR version VERSION_GREATER newest)
    message(FATAL_ERROR "${FILE} needs GLIBC_${version}; C libraries of version ${newest} do not have it")
  endif()
endforeach()

execute_process(COMMAND ${READELF} --dyn-syms --wide ${FILE} OUTPUT_VARIABLE symbols
                COMMAND_ERROR_IS_FATAL ANY)
# Another library could bind these, or bring its own for FILE: both must not meet.
string(REGEX MATCHALL "(GLOBAL|WEAK|UNIQUE) [^\n]*[ ](_Unwind_|__cxa_|__gxx_|_ZSt|_ZNSt|_ZNKSt|_Zn[wa]|_Zd[la]|_ZN4absl|_ZN6google|ZSTD_|Zydis|inflate|deflate)[^\n]*"
       shared "${symbols}")
foreach(symbol IN LISTS shared)
  # The C library's own.
  if(NOT symbol MATCHES "__cxa_(finalize|atexit|thread_atexit_impl)@GLIBC")
    message(FATAL_ERROR "${FILE} shares a symbol with other libraries: ${symbol}")
  endif()
endforeach()
