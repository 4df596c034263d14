# Configures SOURCE with the preset `install` in an empty DIRECTORY. Nothing is built: the test
# checks that a build would produce every installed file, and no test, benchmark or example.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${DIRECTORY})
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${DIRECTORY} --preset install
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON)

# The words of the commands that a build would run include every file that it produces.
run(${CMAKE_COMMAND} --build ${DIRECTORY} -- -t commands all)
string(REGEX REPLACE "[][;]" "_" built "${output}")
string(REGEX REPLACE "[ \n]+" ";" built "${built}")

# The build outputs that the installation scripts refer to, most of them in order to copy them.
file(GLOB_RECURSE scripts ${DIRECTORY}/cmake_install.cmake)
set(taken "")
foreach(script IN LISTS scripts)
  file(READ ${script} text)
  string(REGEX MATCHALL "\"${DIRECTORY}/[^\"$]*\"" paths "${text}")
  list(APPEND taken ${paths})
endforeach()
list(REMOVE_DUPLICATES taken)
foreach(path IN LISTS taken)
  string(REGEX REPLACE "^\"${DIRECTORY}/(.*)\"$" "\\1" path ${path})
  if(NOT path IN_LIST built AND NOT EXISTS ${DIRECTORY}/${path})
    message(FATAL_ERROR "${path} is installed, and a build does not make it")
  endif()
endforeach()

# An empty list would pass too.
foreach(path IN ITEMS hapax src/libhapax.a src/libhapax.so.${VERSION})
  if(NOT "\"${DIRECTORY}/${path}\"" IN_LIST taken)
    message(FATAL_ERROR "${path} is not installed; these are: ${taken}")
  endif()
endforeach()
list(FILTER built INCLUDE REGEX "^(tests|examples|bench)/")
if(built)
  message(FATAL_ERROR "a build with the preset makes more than the product: ${built}")
endif()
