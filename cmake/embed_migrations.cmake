# Writes OUTPUT, a C++ file with the text of every file in INPUTS (separated by "|"), in this order.
string(REPLACE "|" ";" INPUTS "${INPUTS}")
set(values "")
foreach(input IN LISTS INPUTS)
  file(READ ${input} text)
  string(APPEND values "    R\"hapax(${text})hapax\",\n")
endforeach()
list(LENGTH INPUTS count)
file(WRITE ${OUTPUT} "// Made by cmake/embed_migrations.cmake.
#include \"store/postgres/schema.hpp\"

#include <array>

namespace hapax::store::postgres {

namespace {

constexpr std::array<std::string_view, ${count}> kMigrations{
${values}};

}  // namespace

std::span<const std::string_view> migrations() { return kMigrations; }

}  // namespace hapax::store::postgres
")
