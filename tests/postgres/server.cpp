// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "postgres/server.hpp"

#include "support/eventually.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pwd.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

namespace hapax::test {

namespace {

constexpr const char* kDatabase = "postgres";

[[noreturn]] void give_up(const std::string& why) {
  std::cerr << why << "\n";
  std::exit(1);
}

std::string program(const std::string& name) {
  const char* directory = std::getenv("HAPAX_TEST_POSTGRES_BIN");
  if (directory == nullptr) give_up("This test needs PostgreSQL: run it with tools/with_postgres");
  return std::string(directory) + "/" + name;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Starts a program as the user postgres, because the server refuses to run as root. Its output goes
// to `log`.
pid_t spawn(std::vector<std::string> words, const std::string& log) {
  if (geteuid() == 0) {
    const std::vector<std::string> first{"/usr/sbin/runuser", "-u", "postgres", "--"};
    words.insert(words.begin(), first.begin(), first.end());
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0644);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t pid = -1;
  if (posix_spawn(&pid, arguments[0], &actions, nullptr, arguments.data(), environ) != 0) {
    give_up("cannot start " + words[0]);
  }
  posix_spawn_file_actions_destroy(&actions);
  return pid;
}

// The server's processes: the postmaster and its children, which all run in its data directory.
std::vector<pid_t> processes_in(const std::string& directory) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::error_code ignored;
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    const auto place = std::filesystem::read_symlink(entry.path() / "cwd", ignored);
    if (pid > 0 && place == directory) found.push_back(pid);
  }
  return found;
}

// Sends the signal and waits until the process, ours or not, has ended.
void end(pid_t process, int signal) {
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
  if (fd < 0) return;  // already ended
  kill(process, signal);
  pollfd ended{.fd = fd, .events = POLLIN, .revents = 0};
  while (poll(&ended, 1, -1) < 0) {
  }
  close(fd);
}

}  // namespace

void PostgresServer::make_place() {
  program("initdb");  // fails before there is anything to remove
  // Short: a socket path has at most 107 bytes.
  std::string pattern = std::filesystem::temp_directory_path() / "hapax-own-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) give_up("cannot make " + pattern);
  place_ = pattern;
  chmod(place_.c_str(), 0755);
  if (geteuid() == 0) {
    const passwd* user = getpwnam("postgres");
    if (user == nullptr) give_up("there is no user postgres");
    if (chown(place_.c_str(), user->pw_uid, user->pw_gid) != 0) give_up("cannot chown " + place_);
  }
}

PostgresServer::PostgresServer() {
  make_place();
  make_cluster();
  start();
}

PostgresServer::PostgresServer(const StandbyOf& of) {
  make_place();
  run_to_the_end({program("pg_basebackup"), "-h", of.primary.directory(), "-U", "hapax", "-D",
                  place_ + "/data", "-R", "-X", "stream", "-c", "fast", "--no-sync"});
  start();
}

PostgresServer::~PostgresServer() {
  if (server_ > 0) stop(Stop::immediate);
  std::error_code ignored;
  std::filesystem::remove_all(place_, ignored);
}

void PostgresServer::make_cluster() const {
  run_to_the_end({program("initdb"), "-D", place_ + "/data", "-A", "trust", "-U", "hapax",
                  "--no-sync", "--no-instructions", "--locale=C.UTF-8"});
}

void PostgresServer::run_to_the_end(std::vector<std::string> words) const {
  const pid_t made = spawn(std::move(words), log_file());
  int status = 0;
  waitpid(made, &status, 0);
  if (status != 0) give_up(read_file(log_file()));
}

void PostgresServer::start() {
  // syncfs: after a crash the server would otherwise sync its files one by one, which takes
  // seconds.
  child_ = spawn({program("postgres"), "-D", place_ + "/data", "-c", "listen_addresses=", "-c",
                  "unix_socket_directories=" + place_, "-c", "recovery_init_sync_method=syncfs"},
                 log_file());
  const std::string where = url();
  const bool is_ready = eventually(
      [&] {
        if (waitpid(child_, nullptr, WNOHANG) != 0) give_up(read_file(log_file()));
        return PQping(where.c_str()) == PQPING_OK;
      },
      std::chrono::minutes(5));  // crash recovery comes first
  if (!is_ready) give_up("the server does not become ready:\n" + read_file(log_file()));
  server_ = std::atoi(read_file(place_ + "/data/postmaster.pid").c_str());
}

void PostgresServer::stop(Stop how) {
  end(server_, how == Stop::fast ? SIGINT : how == Stop::immediate ? SIGQUIT : SIGKILL);
  // Without the postmaster no new processes start. In a fast shutdown it waits for its children
  // itself.
  for (const pid_t orphan : processes_in(place_ + "/data")) end(orphan, SIGKILL);
  waitpid(child_, nullptr, 0);
  server_ = -1;
}

void PostgresServer::restart(Stop how) {
  stop(how);
  start();
}

void PostgresServer::promote() const {
  const PgHandle connection = connect();
  EXPECT_EQ(ask(connection.get(), "SELECT pg_promote()"), "t");
}

void PostgresServer::set(const std::string& name, const std::string& value) const {
  const PgHandle connection = connect();
  ask(connection.get(), "ALTER SYSTEM SET " + name + " = '" + value + "'");
  ask(connection.get(), "SELECT pg_reload_conf()");
}

void PostgresServer::reset(const std::string& name) const {
  const PgHandle connection = connect();
  ask(connection.get(), "ALTER SYSTEM RESET " + name);
  ask(connection.get(), "SELECT pg_reload_conf()");
}

std::string PostgresServer::url() const {
  return std::string("postgres://hapax@/") + kDatabase + "?host=" + place_;
}

PgHandle PostgresServer::connect() const {
  PgHandle connection(PQconnectdb(url().c_str()));
  EXPECT_EQ(PQstatus(connection.get()), CONNECTION_OK) << PQerrorMessage(connection.get());
  return connection;
}

}  // namespace hapax::test
