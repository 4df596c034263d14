# The suites that ./test runs, and their builds. CONTRIBUTING.md has them as a table.
#
#   hapax_suite(NAME BUILD KIND [POSTGRES build] [PROGRAM program] [FILTER filter] [SHARDS n]
#               [EACH_CASE] [COST n])
#
# BUILD  asan     parsing, allocation and shared memory: clang++ with ASan and UBSan
#        release  kills, outages, crashes, simulation, PostgreSQL, allocation counts: g++
#        both     coroutines, which g++ 12 can miscompile; ./test --long also runs these with g++ and
#                 ASan
#        ./test --long runs every suite in both builds, and with ThreadSanitizer.
# KIND   unit crash postgres package; ./test --fast runs the unit suites, all in the release build.
#
# POSTGRES   the cases that need PostgreSQL, identified by name, form a suite NAME.postgres of kind
#            postgres in this build
# PROGRAM    the test program, if it is not named like the suite
# FILTER     the program's cases that belong to the suite, as a --gtest_filter
# SHARDS     the number of parts that run in parallel
# EACH_CASE  runs every case in its own process: cases kill, or break the environment of later cases
# COST       suites with a higher cost start earlier
include_guard()

set(HAPAX_TEST_BUILD release)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  set(HAPAX_TEST_BUILD asan)
endif()

function(hapax_suite name build kind)
  cmake_parse_arguments(PARSE_ARGV 3 suite "EACH_CASE" "POSTGRES;PROGRAM;FILTER;SHARDS;COST" "")
  if(NOT build MATCHES "^(asan|release|both)$" OR NOT kind MATCHES "^(unit|crash|postgres|package)$"
     OR suite_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "suite ${name}: unknown build, kind or option")
  endif()
  if(NOT suite_PROGRAM)
    set(suite_PROGRAM ${name})
  endif()
  if(suite_POSTGRES)
    set(needs "*Postgres*:*Pgbouncer*:*Serializable*")
    set(same ${ARGN})
    list(FIND same POSTGRES at)
    list(REMOVE_AT same ${at})
    list(REMOVE_AT same ${at})
    hapax_suite(${name}.postgres ${suite_POSTGRES} postgres PROGRAM ${name} ${same}
                FILTER "${needs}")
    set(suite_FILTER "-${needs}")
  endif()
  set(labels ${kind})
  if(build STREQUAL "both")
    list(APPEND labels both)
  endif()
  if(build STREQUAL "both" OR build STREQUAL HAPAX_TEST_BUILD)
    list(APPEND labels default)
  endif()
  set_property(GLOBAL APPEND PROPERTY hapax_suites_of_${suite_PROGRAM} ${name})
  set_property(GLOBAL APPEND PROPERTY hapax_suite_programs ${suite_PROGRAM})
  set_property(GLOBAL PROPERTY hapax_${name}_LABELS ${labels})
  foreach(property IN ITEMS FILTER SHARDS EACH_CASE COST)
    set_property(GLOBAL PROPERTY hapax_${name}_${property} "${suite_${property}}")
  endforeach()
endfunction()

# Called after all programs were added: a suite without a program would run nothing. Sanitizer builds
# omit a few programs.
function(hapax_check_suites)
  get_property(programs GLOBAL PROPERTY hapax_suite_programs)
  foreach(program IN LISTS programs)
    get_property(are_added GLOBAL PROPERTY hapax_suites_of_${program}_are_added)
    if(NOT are_added AND HAPAX_BUILD_CLI AND HAPAX_TEST_BUILD STREQUAL "release")
      message(FATAL_ERROR "tests/suites.cmake has ${program}, which is no test program")
    endif()
  endforeach()
endfunction()

# Parsing of untrusted bytes, configuration, administration and the command line.
hapax_suite(base_test asan unit)
hapax_suite(identify_test asan unit)
hapax_suite(verify_test asan unit)
hapax_suite(daemon_test asan unit)
hapax_suite(maintenance_test asan unit)
hapax_suite(admin_test asan unit SHARDS 2)
hapax_suite(arguments_test asan unit)
hapax_suite(cli_test asan unit)
hapax_suite(verify_cli_test asan unit)
hapax_suite(send_cli_test asan unit SHARDS 2)
hapax_suite(fuzz_corpus asan unit)
hapax_suite(json_allocation_test release unit)  # replaces operator new, like a sanitizer
hapax_suite(verify_allocation_test release unit)

# Stores.
hapax_suite(store_test asan unit SHARDS 4)
hapax_suite(tx_test asan unit POSTGRES asan)
hapax_suite(compliance_test asan unit POSTGRES release)
hapax_suite(inbox_test asan unit POSTGRES release SHARDS 4 COST 1)
hapax_suite(inbox_hot_path_test asan postgres PROGRAM inbox_test
            FILTER PostgresInboxAdmit.*:PostgresInboxLease.*:PostgresInboxSettle.*)
hapax_suite(inbox_model_test release unit POSTGRES release SHARDS 2)

# The server's components.
hapax_suite(http_test both unit)
hapax_suite(http_client_test both unit)
hapax_suite(reject_queue_test both unit)
hapax_suite(receive_test both unit)
hapax_suite(deliver_test both unit)
hapax_suite(push_dispatcher_test both unit)
hapax_suite(pull_test both unit)
hapax_suite(replays_test both unit)

# A real `hapax serve`, tested from outside.
hapax_suite(end_to_end_test both unit POSTGRES release)
hapax_suite(sources_test both unit POSTGRES release)
hapax_suite(push_test both unit SHARDS 2)
hapax_suite(pull_server_test both unit)
hapax_suite(rejects_test both crash POSTGRES release EACH_CASE)
hapax_suite(operations_test both crash EACH_CASE)
hapax_suite(replay_story_test both crash POSTGRES release EACH_CASE SHARDS 2 COST 1)

# Kills, outages, floods and disk faults.
hapax_suite(sim_test release unit SHARDS 4)
hapax_suite(crash_test release crash EACH_CASE SHARDS 4)
hapax_suite(second_process_test release crash EACH_CASE)
hapax_suite(inbox_crash_test release crash EACH_CASE SHARDS 4)
hapax_suite(kill9_test release crash EACH_CASE)
hapax_suite(process_race_test release crash EACH_CASE)
hapax_suite(inbox_storm_test release crash POSTGRES release EACH_CASE)
hapax_suite(inbox_stopped_worker_test release crash POSTGRES release EACH_CASE)
hapax_suite(inbox_lane_order_test release crash POSTGRES release EACH_CASE)
hapax_suite(kill9_server_test release crash POSTGRES release EACH_CASE)
hapax_suite(kill9_deliver_test release crash POSTGRES release EACH_CASE)
hapax_suite(pull_worker_test release crash POSTGRES release EACH_CASE)
hapax_suite(sqlite_outage_server_test release crash EACH_CASE)
hapax_suite(flood_test release crash EACH_CASE)

# PostgreSQL, its network and its servers.
hapax_suite(postgres_bad_input_test release postgres)
hapax_suite(postgres_fail_every_call_test release postgres EACH_CASE)
hapax_suite(postgres_inbox_fail_every_call_test release postgres EACH_CASE SHARDS 5 COST 2)
hapax_suite(postgres_lost_answer_test release postgres EACH_CASE)
hapax_suite(postgres_outage_test release postgres EACH_CASE)
hapax_suite(postgres_overlap_test release postgres)
hapax_suite(postgres_plan_test release postgres)
hapax_suite(postgres_inbox_lost_answer_test release postgres EACH_CASE)
hapax_suite(postgres_inbox_partition_test release postgres)
hapax_suite(postgres_inbox_waits_test release postgres SHARDS 3)
hapax_suite(postgres_inbox_race_test release postgres)
hapax_suite(postgres_inbox_held_transaction_test release postgres)
hapax_suite(postgres_fences_test release postgres)
hapax_suite(postgres_names_test release postgres SHARDS 2)
hapax_suite(postgres_late_commit_test release postgres)
hapax_suite(postgres_schema_test release postgres)
hapax_suite(postgres_kill9_test release postgres EACH_CASE)
hapax_suite(postgres_process_race_test release postgres EACH_CASE)
hapax_suite(postgres_outage_server_test release postgres EACH_CASE)

# Code that must not compile, the programs of examples/, programs that use the installed package, and the
# code blocks of the documentation.
hapax_suite(compile_fail release package)
hapax_suite(examples release package)
hapax_suite(package release package)
hapax_suite(docs release package)
