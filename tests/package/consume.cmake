# Configures PROJECT with OPTIONS (separated by |) in an empty DIRECTORY, builds it and runs its
# program. If COMPILES names a target, only that target is built, except in ./test --long.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

string(REPLACE "|" ";" options "${OPTIONS}")
file(REMOVE_RECURSE ${DIRECTORY})
run(${CMAKE_COMMAND} -S ${PROJECT} -B ${DIRECTORY} ${options}
    -DCMAKE_PREFIX_PATH=${PREFIX} -DHAPAX_EXPECTED_VERSION=${VERSION})
if(COMPILES AND NOT "$ENV{HAPAX_TEST_LONG}" STREQUAL "1")
  run(${CMAKE_COMMAND} --build ${DIRECTORY} --target ${COMPILES})
  return()
endif()
run(${CMAKE_COMMAND} --build ${DIRECTORY} --parallel 2)
run(${CMAKE_COMMAND} -E chdir ${DIRECTORY} ./consumer)
