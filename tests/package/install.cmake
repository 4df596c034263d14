# Installs the build tree BUILD into an empty PREFIX, for the tests that use it.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${PREFIX})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX} --config "${CONFIG}")

# A package that contains a path of its build or source tree is not relocatable.
file(GLOB_RECURSE package_files ${PREFIX}/*.cmake ${PREFIX}/*.pc)
foreach(file IN LISTS package_files)
  file(READ ${file} text)
  foreach(path IN ITEMS ${SOURCE} ${BUILD})
    string(FIND "${text}" "${path}" position)
    if(NOT position EQUAL -1)
      message(FATAL_ERROR "${file} names ${path}")
    endif()
  endforeach()
endforeach()

if(EXISTS ${PREFIX}/bin/hapax)
  run(${PREFIX}/bin/hapax version)
endif()
