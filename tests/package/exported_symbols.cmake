# The shared LIBRARY exports only hapax's own symbols: others could interpose symbols of the
# program.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

run(${NM} --dynamic --defined-only --demangle --format=posix ${LIBRARY})
string(REGEX REPLACE "[][;]" "_" output "${output}")
string(REPLACE "\n" ";" symbols "${output}")
list(FILTER symbols EXCLUDE REGEX "^((vtable|typeinfo|typeinfo name) for )?hapax::")
if(symbols)
  list(JOIN symbols "\n" symbols)
  message(FATAL_ERROR "${LIBRARY} exports\n${symbols}")
endif()
# An empty list would pass too.
if(NOT output MATCHES "hapax::open\\(")
  message(FATAL_ERROR "${LIBRARY} does not export hapax::open")
endif()
