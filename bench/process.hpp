// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace hapax::bench {

// A program that runs beside the benchmark; stopped by its process id when this ends. Throws when
// it cannot be started.
class Process {
 public:
  // Its standard output goes to the file `output`, its errors to `output` + ".err".
  Process(const std::vector<std::string>& command, const std::string& output);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  int wait();  // until it ends; its exit code
  void stop();

 private:
  pid_t pid_;
};

// Of the process and its children, since they began.
double cpu_seconds(pid_t pid);
double resident_mib(pid_t pid);

// The first line of the file, once there is one. Throws after ten seconds.
std::string first_line_of(const std::string& path);
std::string contents_of(const std::string& path);

}  // namespace hapax::bench
