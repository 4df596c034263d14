// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT
#include "compliance/inbox_suite.hpp"
#include "postgres/inbox_node.hpp"
#include "postgres/inbox_server.hpp"
#include "postgres/refusal.hpp"
#include "postgres/witness.hpp"
#include "store/inspect.hpp"

// A role that may only create objects in schema public creates functions, operators and types there
// under the names that hapax uses. None of them may ever run: they would run with hapax's
// privileges.
namespace hapax::test {
namespace {

// Every function and operator of pg_catalog with concrete types, under the same signature, plus
// some that match the argument types of hapax's statements better than those of pg_catalog. A
// sequence counts the calls, because it survives a rollback.
constexpr const char* kPlant = R"sql(
  CREATE SEQUENCE public.captured;
  DO $plant$
  DECLARE
    f record;
  BEGIN
    FOR f IN
      SELECT p.proname AS name, pg_catalog.oidvectortypes(p.proargtypes) AS takes,
             CASE WHEN p.proretset THEN 'SETOF ' ELSE '' END
               || pg_catalog.format_type(p.prorettype, NULL) AS gives
        FROM pg_catalog.pg_proc AS p
       WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind IN ('f', 'a')
         AND p.provariadic = 0 AND p.proallargtypes IS NULL
         AND NOT EXISTS (SELECT FROM pg_catalog.pg_type AS t
                          WHERE (t.oid = ANY (p.proargtypes) OR t.oid = p.prorettype)
                            AND t.typtype = 'p'
                            AND (t.typname <> 'void' OR p.proname = 'void_send'))
      UNION ALL VALUES
        ('convert_from', 'bytea, text', 'text'), ('convert_to', 'text, text', 'bytea'),
        ('unnest', 'bytea[]', 'SETOF bytea'), ('unnest', 'bigint[]', 'SETOF bigint'),
        ('unnest', 'text[]', 'SETOF text'), ('count', 'bigint', 'bigint')
    LOOP
      EXECUTE pg_catalog.format(
        'CREATE FUNCTION public.%I(%s) RETURNS %s LANGUAGE plpgsql AS $body$ BEGIN'
        ' PERFORM pg_catalog.nextval(%L); RAISE EXCEPTION USING MESSAGE = %L; END $body$',
        f.name, f.takes, f.gives, 'public.captured',
        'captured: ' || f.name || '(' || f.takes || ')');
    END LOOP;
    FOR f IN
      SELECT o.oprname AS name, pg_catalog.format_type(o.oprleft, NULL) AS l,
             pg_catalog.format_type(o.oprright, NULL) AS r,
             pg_catalog.format_type(o.oprresult, NULL) AS gives
        FROM pg_catalog.pg_operator AS o
       WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND o.oprkind = 'b' AND o.oprresult <> 0
         AND NOT EXISTS (SELECT FROM pg_catalog.pg_type AS t
                          WHERE t.oid IN (o.oprleft, o.oprright, o.oprresult) AND t.typtype = 'p')
      UNION ALL VALUES
        ('*', 'numeric', 'integer', 'numeric'), ('*', 'bigint', 'interval', 'interval'),
        ('*', 'integer', 'interval', 'interval')
    LOOP
      EXECUTE pg_catalog.format(
        'CREATE FUNCTION public.%s(%s, %s) RETURNS %s LANGUAGE plpgsql AS $body$ BEGIN'
        ' PERFORM pg_catalog.nextval(%L); RAISE EXCEPTION USING MESSAGE = %L; END $body$;'
        'CREATE OPERATOR public.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = public.%s)',
        'captured_' || pg_catalog.md5(f.name), f.l, f.r, f.gives, 'public.captured',
        'captured: ' || f.l || ' ' || f.name || ' ' || f.r,
        f.name, f.l, f.r, 'captured_' || pg_catalog.md5(f.name));
    END LOOP;
  END
  $plant$;
  CREATE DOMAIN public.bytea AS int; CREATE DOMAIN public.text AS int;
  CREATE DOMAIN public.uuid AS int; CREATE DOMAIN public.timestamptz AS int;
  CREATE DOMAIN public.regnamespace AS int; CREATE DOMAIN public.oid AS int;
)sql";

// The inbox as the server opens it. Callers write messages on connections with the same settings.
class PlantedInbox final : public InboxSubject {
 public:
  PlantedInbox(std::string url, ManualClock& clock)
      : url_(std::move(url)), clock_(clock), node_(url_, kLongTimeout, clock) {}

  const Driver& driver() override { return node_.driver(); }
  void advance(milliseconds by) override { clock_.advance(by); }
  void jump_wall(milliseconds) override {}
  std::unique_ptr<OpenMessage> begin_message(const Message& message) override {
    return std::make_unique<Uncommitted>(url_, clock_, message);
  }

 private:
  class Uncommitted final : public OpenMessage {
   public:
    Uncommitted(const std::string& url, Clock& clock, const Message& message)
        : connection_(PQconnectdb(url.c_str())),
          session_(PostgresSession::attach(connection_.get(), {.clock = &clock}).value()),
          transaction_(session_.begin().value()) {
      EXPECT_TRUE(outbox(transaction_).enqueue(message));
    }
    void commit() override { EXPECT_TRUE(transaction_.commit()); }

   private:
    PgHandle connection_;
    PostgresSession session_;
    PostgresTransaction transaction_;
  };

  std::string url_;
  ManualClock& clock_;
  NodeInbox node_;
};

constexpr const char* kDefaultPath = "%22$user%22,public";

// The parameter is the search path of the owner's sessions. pg_catalog comes first unless named.
class CapturedNamesTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const PgHandle owner = database_.connect();
    ask(owner.get(), "GRANT CREATE ON SCHEMA public TO " + mallory_.name());
    const PgHandle mallory(PQconnectdb(mallory_.url(database_).c_str()));
    ask(mallory.get(), kPlant);
    const Result<int> version = migrate(url_, {.timeout = kLongTimeout});
    ASSERT_TRUE(version) << version.error().to_string();
  }
  void TearDown() override {
    EXPECT_EQ(witness_.text("SELECT is_called FROM public.captured"), "f");
  }

  static bool is_default() { return std::string_view(GetParam()) == kDefaultPath; }

  template <class Cases>
  void run(const Cases& cases) {
    for (const InboxCase& each : cases) {
      SCOPED_TRACE(each.name);
      ManualClock clock;
      InboxSteps steps(std::make_unique<PlantedInbox>(url_, clock), /*restarting=*/false);
      each.body(steps);
      empty_inbox(witness_);
      for (const char* table : {"name", "record"}) {
        witness_.text(std::string("DELETE FROM hapax.") + table);
      }
    }
  }

  Role mallory_;
  PostgresDatabase database_{PostgresDatabase::Schema::none};
  const std::string url_ = database_.url() + "&options=-csearch_path%3D" + GetParam();
  const Witness witness_{database_.connect()};
};

TEST_P(CapturedNamesTest, NoPlantedFunctionRunsInTheInbox) {
  run(admit_cases());
  if (is_default()) return;  // the other path captures everything this one does
  run(lease_cases());
  run(settle_cases());
  run(lane_cases());
  run(version_cases());
  run(replay_cases());
  run(retention_cases());
  run(reading_cases());
  run(reject_cases());
  run(record_cases());
  run(outbox_cases());
}

TEST_P(CapturedNamesTest, NoPlantedFunctionRunsInDedupOnceAndTheSummary) {
  ManualClock clock;
  for (Clock* const time : {static_cast<Clock*>(nullptr), static_cast<Clock*>(&clock)}) {
    Store store = open(url_, {.timeout = kLongTimeout, .clock = time}).value();
    const DedupRequest request{.scope = kScope, .id = time ? "a" : "b", .ttl = days};
    EXPECT_FALSE(store.dedup(request).value().duplicate);
    EXPECT_TRUE(store.dedup(request).value().duplicate);
    EXPECT_TRUE(store.purge(10));

    const PgHandle connection(PQconnectdb(url_.c_str()));
    PostgresSession session = PostgresSession::attach(connection.get(), {.clock = time}).value();
    for (int i = 0; i < 2; ++i) {
      PostgresTransaction transaction = session.begin().value();
      const auto done = once(transaction, {"work", time ? "a" : "b"},
                             [](auto&) { return Result<std::string>("result"); });
      ASSERT_TRUE(done) << done.error().to_string();
      EXPECT_TRUE(transaction.commit());
    }
  }
  const auto summary =
      store::inspect(store::StoreUrl::parse(url_).value(), {.timeout = kLongTimeout});
  ASSERT_TRUE(summary) << summary.error().to_string();
}

INSTANTIATE_TEST_SUITE_P(Path, CapturedNamesTest,
                         testing::Values(kDefaultPath, "public,pg_catalog"), [](const auto& each) {
                           const bool first = std::string_view(each.param).starts_with("public");
                           return first ? "PublicBeforeTheCatalog" : "Default";
                         });

// `hapax doctor` warns about these.
TEST(DatabaseRightsTest, ASuperuserAndAPubliclyWritableSchemaAreRisks) {
  const Role owner;
  const PostgresDatabase database(PostgresDatabase::Schema::none);
  const PgHandle superuser = database.connect();
  ask(superuser.get(), "ALTER DATABASE " + database.name() + " OWNER TO " + owner.name());
  ask(superuser.get(), "REVOKE CREATE ON SCHEMA public FROM PUBLIC");
  const std::string url = owner.url(database);
  ASSERT_TRUE(migrate(url, {.timeout = kLongTimeout}));
  const auto risks = [](const std::string& by) {
    return store::inspect(store::StoreUrl::parse(by).value(), {})->value().risks;
  };
  EXPECT_TRUE(risks(url).empty());
  ASSERT_EQ(risks(database.url()).size(), 1U);
  EXPECT_NE(risks(database.url()).front().find("superuser"), std::string::npos);
  ask(superuser.get(), "GRANT CREATE ON SCHEMA public TO PUBLIC");
  ASSERT_EQ(risks(url).size(), 1U);
  EXPECT_NE(risks(url).front().find("REVOKE CREATE ON SCHEMA public"), std::string::npos);
}

// A function added to the schema must pin its search path too.
TEST(FunctionNamesTest, EveryFunctionOfTheSchemaPinsItsSearchPath) {
  const PostgresDatabase database;
  const Witness witness(database.connect());
  EXPECT_EQ(witness.text("SELECT string_agg(proname, ' ' ORDER BY proname) FROM pg_proc"
                         " WHERE pronamespace = 'hapax'::regnamespace AND NOT coalesce("
                         "'search_path=pg_catalog, pg_temp' = ANY (proconfig), false)"),
            "_moment _moment_ms")
      << "these two are qualified instead, so that the planner can inline them";
}

}  // namespace
}  // namespace hapax::test
