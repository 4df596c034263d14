// Copyright (c) 2026 the hapax authors
// SPDX-License-Identifier: MIT

// The uses that once() accepts and, each under its own #ifdef, those that must not compile.
// tests/tx/compile_fail/check compiles the file as it is, which must succeed, and with each name
// defined, which must fail with exactly one error that matches the expression after the name.

#include <hapax/postgres.hpp>
#include <hapax/sqlite.hpp>

#include <memory>
#include <optional>

using hapax::Code;
using hapax::Error;
using hapax::Once;
using hapax::once;
using hapax::OnceId;
using hapax::PostgresSession;
using hapax::PostgresTx;
using hapax::Result;
using hapax::SqliteSession;
using hapax::SqliteTransaction;
using hapax::SqliteTx;
using hapax::Tx;

Result<std::string> charge(SqliteTx& tx);

struct MoveOnly {
  std::unique_ptr<int> amount;
  void operator()(SqliteTx&) { ++*amount; }
};

// All documented uses, with every kind of transaction and of work.
Result<Once> accepted(SqliteSession& session, SqliteTx& tx, PostgresTx& postgres,
                      const OnceId& id) {
  Result<SqliteTransaction> begun = session.begin();
  if (!begun) return begun.error();
  Tx& any = tx;
  const Result<Once> all[] = {
      once(tx, id, [](SqliteTx&) {}),
      once(*begun, id, [](SqliteTx&) {}),
      once(*begun, id, [](SqliteTransaction&) {}),
      once(postgres, id, [](PostgresTx&) {}),
      once(any, id, [](Tx&) {}),
      once(tx, id, [](auto& same) { static_assert(std::is_same_v<decltype(same), SqliteTx&>); }),
      once(tx, id, [](SqliteTx&) { return std::string("receipt"); }),
      once(tx, id, [](SqliteTx&) { return "receipt"; }),
      once(tx, id, [](SqliteTx&) { return Result<void>(); }),
      once(tx, id, [](SqliteTx&) { return Result<std::string>("receipt"); }),
      once(tx, id, [](SqliteTx&) -> Result<void> { return Error(Code::work_failed, "no"); }),
      once(tx, id, charge),
      once(tx, id, MoveOnly{std::make_unique<int>(1)}),
      once(tx, id, [count = 0](SqliteTx&) mutable { ++count; }),
      once(tx, {"jobs", "1"}, [](SqliteTx&) {}),
  };
  const Result<void> committed = begun->commit();
  return committed ? all[0] : committed.error();
}

void refused(SqliteSession& session, SqliteTx& tx, const OnceId& id) {
  [[maybe_unused]] const auto nothing = [](SqliteTx&) {};
  static_cast<void>(session);
  static_cast<void>(tx);
  static_cast<void>(id);

#ifdef WORK_RETURNS_BOOL  // the work returns nothing, a std::string, or a Result of either
  static_cast<void>(once(tx, id, [](SqliteTx&) { return true; }));
#endif
#ifdef WORK_RETURNS_NUMBER  // the work returns nothing, a std::string, or a Result of either
  static_cast<void>(once(tx, id, [](SqliteTx&) { return 42; }));
#endif
#ifdef WORK_RETURNS_BARE_ERROR  // the work returns nothing, a std::string, or a Result of either
  static_cast<void>(once(tx, id, [](SqliteTx&) { return Error(Code::work_failed, "no"); }));
#endif
#ifdef WORK_RETURNS_RESULT_OF_NUMBER  // the work returns nothing, a std::string, or a Result of
  static_cast<void>(once(tx, id, [](SqliteTx&) { return Result<int>(42); }));
#endif
#ifdef WORK_RETURNS_OPTIONAL  // the work returns nothing, a std::string, or a Result of either
  static_cast<void>(once(tx, id, [](SqliteTx&) { return std::optional<std::string>(); }));
#endif
#ifdef WORK_RETURNS_ONCE  // the work returns nothing, a std::string, or a Result of either
  static_cast<void>(once(tx, id, [&](SqliteTx& inner) { return once(inner, id, nothing); }));
#endif

#ifdef WORK_TAKES_NOTHING  // the work takes the transaction: \[&\]\(hapax::SqliteTx& tx\)
  static_cast<void>(once(tx, id, [] {}));
#endif
#ifdef WORK_TAKES_MORE  // the work takes the transaction: \[&\]\(hapax::SqliteTx& tx\)
  static_cast<void>(once(tx, id, [](SqliteTx&, int) {}));
#endif
#ifdef WORK_TAKES_OTHER_DATABASE  // the work takes the transaction: \[&\]\(hapax::SqliteTx& tx\)
  static_cast<void>(once(tx, id, [](PostgresTx&) {}));
#endif
#ifdef WORK_TAKES_TRANSACTION_BUT_JOINED  // the work takes the transaction: \[&\]\(hapax::SqliteTx&
  static_cast<void>(once(tx, id, [](SqliteTransaction&) {}));
#endif
#ifdef WORK_TAKES_TEMPORARY  // the work takes the transaction: \[&\]\(hapax::SqliteTx& tx\)
  static_cast<void>(once(tx, id, [](SqliteTx&&) {}));
#endif
#ifdef WORK_IS_CONST_BUT_CHANGES  // the work takes the transaction: \[&\]\(hapax::SqliteTx& tx\)
  const auto work = [count = 0](SqliteTx&) mutable { ++count; };
  static_cast<void>(once(tx, id, work));
#endif
#ifdef WORK_IS_NO_FUNCTION  // the work takes the transaction: \[&\]\(hapax::SqliteTx& tx\)
  static_cast<void>(once(tx, id, "work"));
#endif

#ifdef TX_IS_SESSION  // tx is a transaction, such as hapax::SqliteTx, and not const
  static_cast<void>(once(session, id, nothing));
#endif
#ifdef TX_IS_STILL_A_RESULT  // tx is a transaction, such as hapax::SqliteTx, and not const
  Result<SqliteTx> joined = session.join();
  static_cast<void>(once(joined, id, nothing));
#endif
#ifdef TX_IS_POINTER  // tx is a transaction, such as hapax::SqliteTx, and not const
  SqliteTx* const pointer = &tx;
  static_cast<void>(once(pointer, id, nothing));
#endif
#ifdef TX_IS_CONST  // tx is a transaction, such as hapax::SqliteTx, and not const
  const SqliteTx& constant = tx;
  static_cast<void>(once(constant, id, nothing));
#endif
#ifdef TX_IS_TEMPORARY  // lvalue|no matching function for call to 'once'
  static_cast<void>(once(session.begin().value(), id, nothing));
#endif

#ifdef BEGUN_ON_TEMPORARY_SESSION  // deleted
  static_cast<void>(SqliteSession::attach(nullptr).value().begin());
#endif
#ifdef JOINED_ON_TEMPORARY_SESSION  // deleted
  static_cast<void>(SqliteSession::attach(nullptr).value().join());
#endif
#ifdef BEGUN_ON_TEMPORARY_POSTGRES_SESSION  // deleted
  static_cast<void>(PostgresSession::attach(nullptr).value().begin());
#endif
#ifdef JOINED_ON_TEMPORARY_POSTGRES_SESSION  // deleted
  static_cast<void>(PostgresSession::attach(nullptr).value().join());
#endif

#ifdef RESULT_OF_ONCE_IS_DISCARDED  // ignoring return(ed)? value
  once(tx, id, nothing);
#endif
#ifdef RESULT_OF_COMMIT_IS_DISCARDED  // ignoring return(ed)? value
  Result<SqliteTransaction> begun = session.begin();
  begun->commit();
#endif
#ifdef RESULT_OF_BEGIN_IS_DISCARDED  // ignoring return(ed)? value
  session.begin();
#endif
}
