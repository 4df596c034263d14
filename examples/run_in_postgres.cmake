# Like run_example.cmake, with the URL of a new database on the server of tools/with_postgres as the
# example's argument.
cmake_minimum_required(VERSION 3.25)
if(NOT DEFINED ENV{HAPAX_TEST_POSTGRES})
  message(FATAL_ERROR "This example needs PostgreSQL: run ctest with tools/with_postgres")
endif()
set(server $ENV{HAPAX_TEST_POSTGRES})
string(RANDOM LENGTH 12 ALPHABET abcdefghijklmnopqrstuvwxyz database)

function(ask_server sql)
  execute_process(COMMAND $ENV{HAPAX_TEST_POSTGRES_BIN}/psql --quiet --no-psqlrc --host=${server}
                          --username=hapax --dbname=postgres --command=${sql}
                  COMMAND_ERROR_IS_FATAL ANY)
endfunction()

ask_server("CREATE DATABASE ${database}")
set(EXAMPLE ${EXAMPLE} postgres://hapax@/${database}?host=${server})
include(${CMAKE_CURRENT_LIST_DIR}/run_example.cmake)
ask_server("DROP DATABASE ${database}")
