# Compiles SOURCE with the flags that pkg-config prints, and runs it. STATIC uses a copy of the
# prefix without the shared library, because the linker prefers it over the archive. The copy also
# verifies that an installed tree is relocatable.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${DIRECTORY})
file(COPY ${PREFIX}/ DESTINATION ${DIRECTORY})
set(flags --cflags --libs)
if(STATIC)
  file(GLOB shared_libraries ${DIRECTORY}/${LIBDIR}/libhapax.so*)
  if(shared_libraries)
    file(REMOVE ${shared_libraries})
  endif()
  list(APPEND flags --static)
endif()

set(ENV{PKG_CONFIG_PATH} ${DIRECTORY}/${LIBDIR}/pkgconfig)
run(${PKG_CONFIG} ${flags} hapax)
separate_arguments(flags UNIX_COMMAND "${output}")
run(${COMPILER} -std=c++20 -DHAPAX_EXPECTED_VERSION="${VERSION}" ${SOURCE}
    -o ${DIRECTORY}/consumer ${flags})
set(ENV{LD_LIBRARY_PATH} ${DIRECTORY}/${LIBDIR})
run(${CMAKE_COMMAND} -E chdir ${DIRECTORY} ./consumer)
