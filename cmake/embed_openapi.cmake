# Writes OUTPUT, a C++ file with the text of INPUT.
file(READ ${INPUT} text)
file(WRITE ${OUTPUT} "// Made by cmake/embed_openapi.cmake.
#include \"admin/api/resources.hpp\"

namespace hapax::admin {

std::string_view openapi_document() {
  return R\"hapax(${text})hapax\";
}

}  // namespace hapax::admin
")
