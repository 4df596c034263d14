// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "base/try.hpp"
#include "cli/captured_request.hpp"
#include "cli/command.hpp"
#include "cli/random_id.hpp"
#include "cli/send_load.hpp"
#include "cli/send_summary.hpp"
#include "cli/server_file.hpp"
#include "cli/signing.hpp"

#include <algorithm>

namespace hapax::cli {

namespace {

struct SendArguments {
  SchemeArguments scheme;
  std::string config = "hapax.toml";
  std::string source;
  std::uint64_t count = 1;
  std::uint64_t duplicates = 0;
  std::uint64_t concurrency = 1;
  double rate = 0;
  std::uint64_t retries = 0;
  std::string body;
  std::optional<std::uint64_t> size;
  std::string id;
  std::string type = "hapax.test";
  std::string ca;
  std::uint64_t timeout_s = 15;
};

// The address of the events and their shape.
struct Target {
  EventShape shape;
  std::string url;
  Identifier identifier;
  std::optional<WallTime> now;
};

Error no_such_source(const daemon::Config& config, const std::string& path,
                     const std::string& wanted) {
  std::string names;
  for (const gateway::Source& each : config.sources)
    names += (names.empty() ? "" : ", ") + path_of(each);
  if (names.empty()) return Error(Code::misconfigured, path + " has no source yet");
  if (wanted.empty()) {
    return Error(Code::invalid_argument, "select one with --source: " + names);
  }
  return Error(Code::invalid_argument, path + " has no source '" + wanted + "'; it has " + names);
}

Result<gateway::Source> take_source(daemon::Config& config, const SendArguments& arguments) {
  std::vector<gateway::Source>& all = config.sources;
  const auto found = std::find_if(all.begin(), all.end(), [&](const gateway::Source& each) {
    return arguments.source.empty() ? all.size() == 1 : path_of(each) == arguments.source;
  });
  if (found == all.end()) return no_such_source(config, arguments.config, arguments.source);
  if (found->preset == nullptr) {
    return Error(
        Code::misconfigured,
        "the source '" + found->name +
            "' uses a custom scheme; only presets can be signed. Use --preset, --secret and --url");
  }
  return std::move(*found);
}

// Command-line options override the file.
Result<Target> target_of_file(const SendArguments& arguments) {
  HAPAX_TRY_ASSIGN(config, read_server_file(arguments.config, "give --preset, --secret and --url"));
  HAPAX_TRY_ASSIGN(source, take_source(config, arguments));
  const std::string path = "/in/" + path_of(source);
  std::string url = arguments.scheme.url;
  if (url.empty()) {
    HAPAX_TRY_ASSIGN(base, url_of(config.listen, "give --url"));
    url = base + path;
  }
  SchemeArguments scheme = arguments.scheme;
  scheme.preset = source.preset->name;
  HAPAX_TRY_ASSIGN(choice, choose(scheme));
  if (choice.secrets.empty()) choice.secrets = source.secrets;
  if (choice.key_id.empty()) choice.key_id = source.key_id;
  if (choice.parameters.empty()) choice.parameters = source.parameters;
  EventShape shape;
  shape.preset = choice.preset;
  if (!choice.secrets.empty()) shape.secret = choice.secrets.front();
  shape.key_id = choice.key_id;
  shape.parameters = choice.parameters;
  while (config.public_url.ends_with('/')) config.public_url.pop_back();
  shape.signed_url = config.public_url.empty() ? url : config.public_url + path;
  return Target{std::move(shape), std::move(url), std::move(source.identifier), choice.now};
}

Result<Target> target_of_preset(const SendArguments& arguments) {
  HAPAX_TRY_ASSIGN(choice, choose(arguments.scheme));
  if (arguments.scheme.url.empty()) {
    return Error(Code::invalid_argument,
                 "--url is required, for example http://127.0.0.1:8420/in/NAME");
  }
  const bool needs = choice.preset->verify.algorithm != Algorithm::none;
  if (choice.secrets.size() != (needs ? 1U : 0U)) {
    return Error(Code::invalid_argument, needs ? "give one secret to sign with"
                                               : "this preset signs nothing and takes no secret");
  }
  HAPAX_TRY_ASSIGN(identifier, Identifier::make(choice.preset->identity));
  EventShape shape;
  shape.preset = choice.preset;
  if (needs) shape.secret = choice.secrets.front();
  shape.key_id = choice.key_id;
  shape.parameters = choice.parameters;
  shape.signed_url = arguments.scheme.url;
  return Target{std::move(shape), arguments.scheme.url, std::move(identifier), choice.now};
}

Result<Load> load_of(const SendArguments& arguments) {
  if (arguments.duplicates >= arguments.count) {
    return Error(Code::invalid_argument, "--duplicates must be less than --count");
  }
  HAPAX_TRY_ASSIGN(target, arguments.scheme.preset.empty() ? target_of_file(arguments)
                                                           : target_of_preset(arguments));
  Load load;
  HAPAX_TRY_TO(load.to, http::parse_url(target.url));
  if (load.to.tls) {
    HAPAX_TRY_TO(load.tls, http::ClientTls::make(arguments.ca));
  }
  load.limits.total = std::chrono::seconds(arguments.timeout_s);
  load.shape = std::move(target.shape);
  load.shape.target = load.to.target;
  load.shape.type = arguments.type;
  load.shape.size = arguments.size.value_or(0);
  load.shape.own_id = arguments.count > 1 || !arguments.id.empty();
  if (!arguments.body.empty()) {
    HAPAX_TRY_TO(load.shape.body, read_input(arguments.body));
  }
  load.id = arguments.id.empty() ? "evt_" + random_id(12) : arguments.id;
  load.count = arguments.count;
  load.duplicates = arguments.duplicates;
  load.concurrency = arguments.concurrency;
  load.rate = arguments.rate;
  load.retries = arguments.retries;
  if (!arguments.scheme.now.empty()) load.signed_at = target.now;
  // Generate one event first, so that errors are reported before anything is sent.
  HAPAX_TRY_ASSIGN(sample, make_event(load.shape, load.id_of_event(0), *target.now));
  HAPAX_TRY_ASSIGN(id, id_of(sample, target.identifier));
  return load;
}

Result<int> send_events(const SendArguments& arguments, const Output& output) {
  HAPAX_TRY_ASSIGN(load, load_of(arguments));
  const std::unique_ptr<Clock> clock = make_system_clock();
  const auto progress = [&](const Tally& tally) {
    output.progress(progress_line(tally, load.count));
  };
  Result<Tally> sent = run_load(load, *clock, progress);
  output.progress("");
  HAPAX_TRY_ASSIGN(tally, std::move(sent));
  return load.count == 1 ? say_answer(tally, output) : summarize(tally, output);
}

}  // namespace

Command send_command() {
  constexpr std::uint64_t kMaxSize = 64 * 1024 * 1024;
  auto given = std::make_shared<SendArguments>();
  return {
      .name = "send",
      .help = "Sign events as a provider would and send them",
      .shared = {given->scheme.options()},
      .options = {{"-c,--config", &given->config,
                   "Configuration file; its source provides preset and secret"},
                  {"--source", &given->source, "Source to use if the file has several"},
                  {"--count", &given->count, "Number of requests", between(1, 10'000'000)},
                  {"--duplicates", &given->duplicates, "Number of duplicates among them"},
                  {"--concurrency", &given->concurrency, "Concurrent requests", between(1, 256)},
                  {"--rate", &given->rate, "Requests per second; 0: as fast as possible"},
                  {"--retry", &given->retries, "Retries after no response, 429 or 503",
                   between(0, 100)},
                  {"--timeout", &given->timeout_s, "Seconds to wait for a response",
                   between(1, 3600)},
                  {"--body", &given->body, "A file, or - for standard input"},
                  {"--size",
                   &given->size,
                   "Generate a body of this size",
                   {.max = kMaxSize, .excludes = "--body"}},
                  {"--id", &given->id, "Event id, or id prefix for several events"},
                  {"--type", &given->type, "Event type"},
                  {"--ca", &given->ca, "PEM file with an additional trusted certificate"}},
      .run = run_with(given, send_events),
  };
}

}  // namespace hapax::cli
