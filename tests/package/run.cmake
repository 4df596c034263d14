# run(command...): runs one step of a test and stores its standard output in `output`. A failing
# step prints its output and ends the test.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status
                  OUTPUT_VARIABLE printed ERROR_VARIABLE printed OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT status STREQUAL 0)
    list(JOIN ARGN " " command)
    message(NOTICE "${command}\n${printed}")
    message(FATAL_ERROR "ended with ${status}")
  endif()
  set(output "${printed}" PARENT_SCOPE)
endfunction()
