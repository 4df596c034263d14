-- Fences that survive the loss of a sequence, and names that nobody can capture. Nothing of an older
-- version is dropped or changes its signature: nodes of both versions may run side by side.

-- ---- Fences and numbers of messages ----

-- Both only grow. A sequence alone cannot promise that: it goes back when WAL is lost (failover to an
-- asynchronous standby, an older backup) and starts at 1 where it is not copied (logical replication).
-- In each case the server process is another one, or the table below is. Every function that draws a
-- number compares both first. If one differs, it raises the sequences to the clock in microseconds.
CREATE TABLE hapax.epoch (
  one     boolean     PRIMARY KEY DEFAULT true CHECK (one),
  started timestamptz NOT NULL,   -- pg_postmaster_start_time() when the sequences were raised last
  noted   oid         NOT NULL    -- this table: a restored one has another oid
);
INSERT INTO hapax.epoch (started, noted) VALUES ('-infinity', 0);

-- Raises the sequences if the server is another one than when they were raised last. own: whether the
-- transaction is hapax's own. A caller's transaction may last and may be rolled back: there it fails
-- with 40001, and PostgresSession::attach() or a node raises the sequences.
-- SECURITY DEFINER: a role that may only enqueue has no right to the sequences. Raising is harmless.
CREATE FUNCTION hapax._check_epoch(own boolean) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET lock_timeout = '2s' AS $$
DECLARE
  moment_us bigint;
BEGIN
  IF EXISTS (SELECT FROM hapax.epoch AS e
              WHERE e.started = pg_postmaster_start_time() AND e.noted = e.tableoid) THEN
    RETURN;
  END IF;
  IF NOT own THEN
    RAISE EXCEPTION USING ERRCODE = '40001', MESSAGE =
      'the server was restarted or replaced: attach a new session to it, outside a transaction';
  END IF;
  -- One transaction raises them; the others wait for its commit.
  PERFORM FROM hapax.epoch FOR UPDATE;
  IF EXISTS (SELECT FROM hapax.epoch AS e
              WHERE e.started = pg_postmaster_start_time() AND e.noted = e.tableoid) THEN
    RETURN;
  END IF;
  moment_us := extract(epoch FROM clock_timestamp()) * 1000000;
  PERFORM setval('hapax.fence', moment_us) FROM hapax.fence AS f WHERE f.last_value < moment_us;
  PERFORM setval('hapax.message_no_seq', moment_us)
     FROM hapax.message_no_seq AS m WHERE m.last_value < moment_us;
  INSERT INTO hapax.epoch AS e (started, noted)
    VALUES (pg_postmaster_start_time(), 'hapax.epoch'::regclass)
    ON CONFLICT (one) DO UPDATE SET started = excluded.started, noted = excluded.noted;
END
$$;

-- ---- Every function that draws a fence or the number of a message compares the epoch first ----

-- Nothing else in these functions changes: the call is inserted at their beginning. hapax._enqueue runs in
-- the transaction of a caller.
DO $do$
DECLARE
  f       record;
  patched text;
BEGIN
  FOR f IN
    SELECT p.oid, p.proname FROM pg_proc AS p
     WHERE p.pronamespace = 'hapax'::regnamespace
       AND p.proname IN ('_admit', '_cancel', '_enqueue', '_lease', '_move_messages', '_release_holder',
                         '_replay', '_replay_step', '_send', '_settle')
  LOOP
    patched := regexp_replace(
      pg_get_functiondef(f.oid), '\nBEGIN\n',
      format(E'\nBEGIN\n  PERFORM hapax._check_epoch(own => %s);\n',
             CASE f.proname WHEN '_enqueue' THEN 'false' ELSE 'true' END));
    EXECUTE patched;
  END LOOP;
END
$do$;

-- ---- Names ----

-- No object of another role can capture a name in these functions, whatever the session's search_path.
-- pg_temp is named because otherwise it is searched first for tables and types. The two functions that
-- the planner inlines have no path of their own; they are qualified.
DO $do$
DECLARE
  f regprocedure;
BEGIN
  FOR f IN
    SELECT p.oid FROM pg_proc AS p
     WHERE p.pronamespace = 'hapax'::regnamespace AND p.proname NOT IN ('_moment', '_moment_ms')
  LOOP
    EXECUTE format('ALTER FUNCTION %s SET search_path = pg_catalog, pg_temp', f);
  END LOOP;
END
$do$;
