// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "cli/running_server.hpp"

#include "support/eventually.hpp"
#include "support/sanitizer.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace hapax::test {

namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Reads up to the end of the first line, or of the output.
std::string first_line(int fd) {
  std::string line;
  char byte = 0;
  while (read(fd, &byte, 1) == 1 && byte != '\n') line += byte;
  return line;
}

}  // namespace

Ran run_hapax(const TempDir& directory, const std::string& arguments) {
  const std::string errors = directory.file("stderr");
  const std::string command = "cd '" + directory.path().string() + "' && " HAPAX_BINARY " " +
                              arguments + " 2>'" + errors + "'";
  std::FILE* pipe = popen(command.c_str(), "r");
  std::string out;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) out += static_cast<char>(c);
  const int status = pclose(pipe);
  expect_no_report(contents(errors));
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, out, contents(errors)};
}

namespace {

void write_config(const std::string& file, const std::string& sources) {
  // Timeouts that never expire, even on a busy machine.
  std::ofstream(file) << "[server]\nlisten = '127.0.0.1:0'\nadmin = '127.0.0.1:0'\n"
                         "idle_timeout = '10m'\nheader_timeout = '10m'\nbody_timeout = '10m'\n"
                         "write_timeout = '10m'\n"
                         "[store]\nurl = 'sqlite:hapax.db'\ntimeout = '10m'\n"
                      << sources;
  chmod(file.c_str(), 0600);
}

}  // namespace

RunningServer::RunningServer(const std::string& sources) {
  write_config(directory_.file("hapax.toml"), sources);
  const std::string log = directory_.file("log");
  std::array<int, 2> out{};
  if (pipe2(out.data(), O_CLOEXEC) != 0) std::abort();
  process_ = fork();
  if (process_ == 0) {
    const int errors = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (chdir(directory_.path().c_str()) != 0) _exit(127);
    dup2(out[1], STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    execl(HAPAX_BINARY, HAPAX_BINARY, "serve", "-c", "hapax.toml", nullptr);
    _exit(127);
  }
  close(out[1]);
  boost::json::error_code error;
  const boost::json::value ready = boost::json::parse(first_line(out[0]), error);
  close(out[0]);
  if (error || !ready.is_object()) {
    std::fprintf(stderr, "hapax serve did not start:\n%s\n", contents(log).c_str());
    std::abort();
  }
  address_ = boost::json::value_to<std::string>(ready.at("listen"));
  admin_ = boost::json::value_to<std::string>(ready.at("admin"));
}

int RunningServer::port() const {
  return std::stoi(address_.substr(address_.rfind(':') + 1));
}

void RunningServer::reload(const std::string& sources) {
  const auto log = [&] { return contents(directory_.file("log")); };
  const std::size_t before = log().size();
  write_config(directory_.file("hapax.toml"), sources);
  kill(process_, SIGHUP);
  EXPECT_TRUE(eventually([&] { return log().find("reloaded", before) != std::string::npos; }))
      << log();
}

RunningServer::~RunningServer() {
  stop();
}

void RunningServer::stop() {
  if (process_ <= 0) return;
  int status = 0;
  kill(process_, SIGTERM);
  waitpid(process_, &status, 0);
  process_ = -1;
  const std::string log = contents(directory_.file("log"));
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status << '\n' << log;
  expect_no_report(log);
}

std::string RunningServer::url(const std::string& source) const {
  return "http://" + address_ + "/in/" + source;
}

}  // namespace hapax::test
