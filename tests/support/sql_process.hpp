// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

namespace hapax::test {

// A separate program with a connection to a SQLite file, like a backup or an application. SQLite's
// file locks are per process, so a second handle in the test process would not be equivalent.
class SqlProcess {
 public:
  SqlProcess(std::string program, std::string file) {
    int to[2];
    int from[2];
    EXPECT_EQ(pipe2(to, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(from, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
    std::array<char*, 3> words{program.data(), file.data(), nullptr};
    EXPECT_EQ(posix_spawn(&pid_, words[0], &actions, nullptr, words.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(to[0]);
    close(from[1]);
    in_ = to[1];
    out_ = from[0];
  }
  // Makes the program close its connection, and waits until it has exited.
  ~SqlProcess() {
    close(in_);
    int status = 0;
    waitpid(pid_, &status, 0);
    EXPECT_EQ(status, 0);
    close(out_);
  }
  SqlProcess(const SqlProcess&) = delete;
  SqlProcess& operator=(const SqlProcess&) = delete;

  // Returns the first column of the last row, or "error: " and the message of SQLite.
  std::string run(std::string sql) {
    sql += '\n';
    EXPECT_EQ(write(in_, sql.data(), sql.size()), static_cast<ssize_t>(sql.size()));
    std::string answer;
    char byte = 0;
    while (read(out_, &byte, 1) == 1 && byte != '\n') answer += byte;
    return answer;
  }

 private:
  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
};

}  // namespace hapax::test
