// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace hapax::bench {

// A child process of the benchmark. The destructor stops it by its process id. Throws if it cannot
// be started.
class Process {
 public:
  // Standard output is written to the file `output`, standard error to `output` + ".err".
  Process(const std::vector<std::string>& command, const std::string& output);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  int wait();  // waits until it ends; returns the exit code
  void stop();

 private:
  pid_t pid_;
};

// For the process and its children, since their start.
double cpu_seconds(pid_t pid);
double resident_mib(pid_t pid);

// Waits for the first line of the file and returns it. Throws after ten seconds.
std::string first_line_of(const std::string& path);
std::string contents_of(const std::string& path);

}  // namespace hapax::bench
