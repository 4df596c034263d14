# hapax_units(target [ALONE source...]): with HAPAX_UNITS several of its sources are compiled as one
# unit, which saves most of what their headers cost. The sanitizer preset has it on; the release preset
# has it off, and so looks at each source by itself.
#
# Sources that define the same name, mostly in their unnamed namespaces, come into different units.
# This is told from their text alone. What it does not see is an error of the compiler: name such a
# source after ALONE.
option(HAPAX_UNITS "Compile several sources as one unit" OFF)
set(HAPAX_UNIT_SOURCES 12)  # at most: so that two processors end at about the same time

# The names that a source defines at the beginning of a line.
function(hapax_names source result)
  file(READ ${source} text)
  string(REPLACE "[" "(" text "\n${text}")  # in a list of CMake brackets and semicolons mean something
  string(REPLACE ";" "=" text "${text}")
  string(REGEX REPLACE "\n(using )?namespace[^\n]*" "\n" text "${text}")
  string(REGEX REPLACE "\n(struct|class|enum class) ([A-Za-z0-9_]+)[^\n]*" "\n\\1 \\2 {" text
         "${text}")
  string(REGEX MATCHALL "\n[A-Za-z][^](){}=\n#]*[ *&][A-Za-z0-9_]+ ?[({=]" names "${text}")
  list(TRANSFORM names REPLACE "^.*[ *&]([A-Za-z0-9_]+) ?.$" "\\1")
  set(${result} ${names} PARENT_SCOPE)
endfunction()

# Whether a source with these names may join the unit with those, of which it would be the count-th.
function(hapax_fits names unit_names count result)
  set(${result} FALSE PARENT_SCOPE)
  if(count GREATER HAPAX_UNIT_SOURCES)
    return()
  endif()
  foreach(name IN LISTS names)
    if(name IN_LIST unit_names)
      return()
    endif()
  endforeach()
  set(${result} TRUE PARENT_SCOPE)
endfunction()

function(hapax_units target)
  if(NOT HAPAX_UNITS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 argument "" "" "ALONE")
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE file)
    if(source IN_LIST argument_ALONE OR NOT EXISTS ${file})  # what is made has no text yet
      continue()
    endif()
    hapax_names(${file} names)
    set(unit 0)
    set(fits FALSE)
    while(NOT fits)  # an empty one takes every source
      math(EXPR unit "${unit} + 1")
      math(EXPR count "0${count_${unit}} + 1")
      hapax_fits("${names}" "${names_${unit}}" ${count} fits)
    endwhile()
    list(APPEND names_${unit} ${names})
    set(count_${unit} ${count})
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${target}_${unit})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
