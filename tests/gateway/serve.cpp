// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "gateway/serve.hpp"

#include "support/eventually.hpp"
#include "support/sanitizer.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>

namespace hapax::test {

namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

int number_behind(const std::string& text, const std::string& key) {
  const std::size_t at = text.find(key);
  EXPECT_NE(at, std::string::npos) << key << " in " << text;
  return at == std::string::npos ? 0 : std::stoi(text.substr(at + key.size()));
}

// Reads one line, or up to the end of the stream.
std::string read_line(int fd) {
  std::string line;
  char byte = 0;
  while (read(fd, &byte, 1) == 1 && byte != '\n') line += byte;
  return line;
}

}  // namespace

std::string demo_config(const std::string& store_url, const std::string& server,
                        const std::string& store) {
  return "[server]\nlisten = \"127.0.0.1:0\"\nadmin = \"127.0.0.1:0\"\n" + server +
         "[store]\nurl = \"" + store_url + "\"\n" + store +
         "[[source]]\nname = \"demo\"\npreset = \"standard-webhooks\"\nsecrets = [\"" +
         kDemoSecret +
         "\"]\ndeliver_to = [\"work\"]\n[[destination]]\nname = \"work\"\nkind = \"pull\"\n";
}

Serve::Serve(std::string config, std::vector<std::string> variables)
    : variables_(std::move(variables)) {
  write_config(config);
  start();
}

Serve::~Serve() {
  if (pid_ > 0) {
    EXPECT_TRUE(kill_it()) << "the server had exited by itself\n" << log();
  }
  expect_no_report(log());
}

void Serve::write_config(const std::string& config) const {
  std::ofstream(file("hapax.toml"), std::ios::trunc) << config;
}

void Serve::reload(const std::string& config) const {
  const auto times = [&] {
    const std::string text = log();
    std::size_t count = 0;
    for (std::size_t at = text.find("reloaded"); at != std::string::npos;
         at = text.find("reloaded", at + 1)) {
      ++count;
    }
    return count;
  };
  write_config(config);
  const std::size_t before = times();
  signal(SIGHUP);
  EXPECT_TRUE(eventually([&] { return times() > before; })) << log();
}

std::string Serve::log() const {
  return contents(file("log"));
}

void Serve::start() {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  posix_spawn_file_actions_t actions{};
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, file("log").c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  const std::string config = file("hapax.toml");
  const char* const words[] = {HAPAX_BINARY, "serve", "-c", config.c_str(), nullptr};
  std::vector<char*> variables;
  for (const std::string& each : variables_) variables.push_back(const_cast<char*>(each.c_str()));
  for (char** each = environ; *each != nullptr; ++each) variables.push_back(*each);
  variables.push_back(nullptr);
  const int failed = posix_spawn(&pid_, HAPAX_BINARY, &actions, nullptr,
                                 const_cast<char* const*>(words), variables.data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  ASSERT_EQ(failed, 0);
  const std::string ready = read_line(ends[0]);
  close(ends[0]);
  ASSERT_EQ(ready.find("{\"ready\":true"), 0U) << ready << log();
  port_ = number_behind(ready, "\"listen_port\":");
  admin_port_ = number_behind(ready, "\"admin_port\":");
}

int Serve::stop() {
  int status = 0;
  kill(pid_, SIGTERM);
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool Serve::kill_it() {
  int status = 0;
  kill(pid_, SIGKILL);
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

void Serve::signal(int number) const {
  kill(pid_, number);
}

std::size_t Serve::resident() const {
  std::ifstream file("/proc/" + std::to_string(pid_) + "/statm");
  std::size_t all = 0;
  std::size_t resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

HttpAnswer Serve::ask(std::string_view target) const {
  std::string token = contents(file("admin.token"));
  while (token.ends_with('\n')) token.pop_back();
  RawClient client(admin_port_);
  return client.get(target, {{"Authorization", "Bearer " + token}});
}

HttpAnswer Serve::post(RawClient& client, const std::string& id, std::string_view body) const {
  return client.post("/in/demo", signed_headers("standard-webhooks", kDemoSecret, body, id), body);
}

StoreView::StoreView(const std::string& url) {
  OpenOptions options;
  options.needs = {Capability::inbox};
  options.timeout = options.busy_timeout = std::chrono::minutes(10);
  Result<std::unique_ptr<store::Opened>> opened = store::open_store(url, options);
  if (opened) {
    opened_ = std::move(*opened);
  } else {
    ADD_FAILURE() << opened.error().to_string();
  }
}

std::map<std::string, std::string> StoreView::bodies() {
  std::map<std::string, std::string> bodies;
  store::EventQuery query{.limit = store::kMaxPage};
  for (;;) {
    const Result<store::EventPage> page = driver().catalog->events(query);
    EXPECT_TRUE(page);
    if (!page) return bodies;
    for (const store::EventRow& each : page->events) {
      const auto body = driver().catalog->body(each.no, store::BodyOf::event);
      EXPECT_TRUE(body && body->value) << each.id;
      const bool first = bodies.emplace(each.id, body->value.value_or("")).second;
      EXPECT_TRUE(first) << each.id << " is stored twice";
    }
    if (!page->next) return bodies;
    query.before = *page->next;
  }
}

}  // namespace hapax::test
