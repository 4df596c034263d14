# Runs EXAMPLE in an empty DIRECTORY and compares its output with the file EXPECTED, or with the
# regular expression in EXPECTED_regex. Prints nothing unless they differ.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${DIRECTORY})
file(MAKE_DIRECTORY ${DIRECTORY})
execute_process(COMMAND ${EXAMPLE} WORKING_DIRECTORY ${DIRECTORY}
                RESULT_VARIABLE status OUTPUT_VARIABLE printed ERROR_VARIABLE complaint)

if(EXISTS ${EXPECTED})
  file(READ ${EXPECTED} expected)
  string(COMPARE EQUAL "${printed}" "${expected}" same)
else()
  file(READ ${EXPECTED}_regex expected)
  string(STRIP "${expected}" expected)
  string(STRIP "${printed}" printed)
  string(REGEX MATCH "${expected}" same "${printed}")
endif()

if(NOT status STREQUAL 0 OR NOT same OR NOT complaint STREQUAL "")
  message(NOTICE "It ended with ${status} and printed\n${printed}${complaint}")
  message(NOTICE "but should have printed\n${expected}")
  message(FATAL_ERROR "${EXAMPLE} does not do what its .expected file says")
endif()
file(REMOVE_RECURSE ${DIRECTORY})
