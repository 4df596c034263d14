// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "bench/process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace hapax::bench {

namespace {

struct Stat {
  pid_t parent = 0;
  double cpu_seconds = 0;
};

Stat stat_of(const std::string& pid) {
  const std::string text = contents_of("/proc/" + pid + "/stat");
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream rest(text.substr(name_end + 2));
  std::string field;
  Stat stat;
  for (int number = 3; rest >> field; ++number) {  // the fields of proc(5)
    if (number == 4) stat.parent = std::stoi(field);
    if (number == 14 || number == 15) {
      stat.cpu_seconds += std::stod(field) / static_cast<double>(sysconf(_SC_CLK_TCK));
    }
  }
  return stat;
}

}  // namespace

Process::Process(const std::vector<std::string>& command, const std::string& output) : pid_(-1) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& each : command) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  const std::string errors = output + ".err";
  posix_spawn_file_actions_t files{};
  posix_spawn_file_actions_init(&files);
  const int flags = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&files, 1, output.c_str(), flags, 0644);
  posix_spawn_file_actions_addopen(&files, 2, errors.c_str(), flags, 0644);
  const int failed = posix_spawnp(&pid_, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) throw std::runtime_error("cannot start " + command.front());
}

Process::~Process() {
  stop();
}

int Process::wait() {
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

void Process::stop() {
  if (pid_ <= 0) return;
  kill(pid_, SIGTERM);
  wait();
}

double cpu_seconds(pid_t pid) {
  double sum = stat_of(std::to_string(pid)).cpu_seconds;
  for (const auto& each : std::filesystem::directory_iterator("/proc")) {
    const std::string name = each.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const Stat stat = stat_of(name);
    if (stat.parent == pid) sum += stat.cpu_seconds;
  }
  return sum;
}

double resident_mib(pid_t pid) {
  std::istringstream statm(contents_of("/proc/" + std::to_string(pid) + "/statm"));
  double size = 0;
  double resident = 0;
  statm >> size >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1024 * 1024);
}

std::string first_line_of(const std::string& path) {
  for (int i = 0; i < 1000; ++i) {
    const std::string text = contents_of(path);
    if (const std::size_t end = text.find('\n'); end != std::string::npos)
      return text.substr(0, end);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  throw std::runtime_error("nothing in " + path + "; see " + path + ".err");
}

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace hapax::bench
