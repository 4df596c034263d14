-- Fences that survive the loss of a sequence, costs that do not grow with the number of days, leases
-- whose answer was lost, and names that cannot be captured. No function is dropped or changes its
-- signature: nodes of both versions may run side by side.

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

-- ---- Days ----
--
-- A plan over all partitions of hapax.event or hapax.attempt locks and opens every one of them. The
-- functions below therefore name the numbers (= ANY) and are planned for each call, so that only the
-- partitions of these numbers are opened. Functions that read no partitioned table keep their plans.

-- Which of these a committed call with the same values has stored before.
CREATE FUNCTION hapax._stored_before(nos bigint[], sources bigint[], tenants bytea[], ids bytea[],
                                     digests bytea[], woulds bigint[])
RETURNS boolean[]
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET enable_seqscan = off SET jit = off AS $$
BEGIN
  RETURN (
    SELECT array_agg(e.no IS NOT NULL ORDER BY w.place)
      FROM unnest(nos, sources, tenants, ids, digests, woulds) WITH ORDINALITY
             AS w (no, source, tenant, id, digest, would, place)
      LEFT JOIN hapax.event AS e
        ON e.no = w.no AND e.no = ANY (nos) AND e.source = w.source AND e.tenant = w.tenant
       AND e.id = w.id AND e.digest = w.digest AND e.would = w.would);
END
$$;

-- Which places are to be stored: those that claimed, and those without a claim that are not there
-- yet, from the same call before. Only an arrival without a key can be there without a claim.
CREATE OR REPLACE FUNCTION hapax._to_store(nos bigint[], keys bytea[], sources bigint[],
                                           tenants bytea[], ids bytea[], digests bytea[],
                                           woulds bigint[], mine bigint[])
RETURNS boolean[]
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_nestloop = off SET jit = off AS $$
DECLARE
  stored boolean[];
BEGIN
  IF '' = ANY (keys) THEN
    stored := hapax._stored_before(nos, sources, tenants, ids, digests, woulds);
  END IF;
  RETURN (
    SELECT array_agg(CASE WHEN w.key <> '' THEN m.no IS NOT NULL ELSE NOT stored[w.place] END
                     ORDER BY w.place)
      FROM unnest(nos, keys) WITH ORDINALITY AS w (no, key, place)
      LEFT JOIN unnest(mine) AS m (no) ON m.no = w.no);
END
$$;

-- Whether each of these events has another digest than the arrival at its place.
CREATE FUNCTION hapax._compare_digests(places bigint[], events bigint[], digests bytea[])
RETURNS TABLE (place bigint, event bigint, changed boolean)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
    SELECT w.place, w.event, coalesce(e.digest <> w.digest, false)
      FROM unnest(places, events, digests) AS w (place, event, digest)
      LEFT JOIN hapax.event AS e ON e.no = w.event AND e.no = ANY (events);
END
$$;

-- The places whose id another event has. With synchronous standbys a claim can be visible here and
-- not there yet; a commit of our own that writes WAL waits for everything before it.
CREATE OR REPLACE FUNCTION hapax._not_fresh(nos bigint[], keys bytea[], digests bytea[])
RETURNS TABLE (place bigint, event bigint, changed boolean)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  places bigint[];
  events bigint[];
  theirs bytea[];
BEGIN
  IF current_setting('synchronous_standby_names') <> '' THEN
    PERFORM pg_logical_emit_message(true, 'hapax', '');
  END IF;
  SELECT array_agg(w.place), array_agg(coalesce(c.event, hapax._ended())), array_agg(w.digest)
    INTO places, events, theirs
    FROM unnest(nos, keys, digests) WITH ORDINALITY AS w (no, key, digest, place)
    LEFT JOIN hapax.claim AS c ON c.key = w.key
   WHERE w.key <> '' AND c.event IS DISTINCT FROM w.no;
  IF places IS NOT NULL THEN
    RETURN QUERY SELECT d.* FROM hapax._compare_digests(places, events, theirs) AS d;
  END IF;
END
$$;

-- What a settlement that matched no lease gets: 1 the same was done before, 0 it is stale, ? there is
-- no such delivery.
CREATE OR REPLACE FUNCTION hapax._settled_before(events bigint[], deliveries bigint[],
                                                 fences bigint[], verdicts bigint[], done bigint[])
RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
BEGIN
  RETURN (
    SELECT string_agg(
             CASE WHEN w.place = ANY (done) THEN '1'
                  WHEN a.outcome = CASE w.verdict WHEN 4 THEN NULL WHEN 5 THEN 4 ELSE w.verdict END
                    THEN '1'
                  WHEN a.outcome IS NOT NULL
                    OR EXISTS (SELECT 1 FROM hapax.queue AS q
                                WHERE q.event = w.event AND q.delivery = w.delivery)
                    OR EXISTS (SELECT 1 FROM hapax.attempt AS o
                                WHERE o.event = w.event AND o.event = ANY (events)
                                  AND o.delivery = w.delivery)
                    THEN '0'
                  ELSE '?' END, '' ORDER BY w.place)
      FROM unnest(events, deliveries, fences, verdicts) WITH ORDINALITY
             AS w (event, delivery, fence, verdict, place)
      LEFT JOIN hapax.attempt AS a
        ON a.event = w.event AND a.event = ANY (events) AND a.delivery = w.delivery
       AND a.fence = w.fence);
END
$$;

-- The status of an event, as DeliveryState: the worst of its deliveries.
CREATE OR REPLACE FUNCTION hapax._status(wanted bigint, moment timestamptz) RETURNS int
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
BEGIN
  RETURN (
    SELECT CASE max(CASE WHEN q.state = 2 THEN 5
                         WHEN q.state = 0 AND q.holder_kind IS NOT NULL AND q.due_at > moment THEN 4
                         WHEN q.state <= 1 THEN 3 WHEN q.state = 3 THEN 2 WHEN q.state = 4 THEN 1
                         ELSE 0 END)
           WHEN 5 THEN 3 WHEN 4 THEN 1 WHEN 3 THEN 0 WHEN 2 THEN 5 WHEN 1 THEN 4 ELSE 2 END
      FROM hapax.queue AS q WHERE q.event = wanted);
END
$$;

-- The events of `nos` that may go: no work is left, and it ended long enough ago. They are adjacent, so
-- the first and the last number bound the partitions.
CREATE OR REPLACE FUNCTION hapax._may_go(nos bigint[], sources bigint[], keeps_ms bigint[],
                                         keeps_dead_ms bigint[], moment timestamptz)
RETURNS bigint[]
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  low  bigint;
  high bigint;
BEGIN
  SELECT min(w.no), max(w.no) INTO low, high FROM unnest(nos) AS w (no);
  RETURN (
    SELECT coalesce(array_agg(e.no ORDER BY e.no), '{}')
      FROM unnest(nos) AS w (no)
      JOIN hapax.event AS e ON e.no = w.no AND e.no BETWEEN low AND high
      JOIN (SELECT DISTINCT ON (u.source) u.*
              FROM unnest(sources, keeps_ms, keeps_dead_ms) WITH ORDINALITY
                     AS u (source, keep_ms, keep_dead_ms, place)
             ORDER BY u.source, u.place) AS p ON p.source = e.source
      CROSS JOIN LATERAL (
        SELECT coalesce(bool_or(q.state <= 1 OR q.blocks), false) AS holds,
               coalesce(bool_or(q.state = 2), false) AS dead, max(q.ended_at) AS ended_at
          FROM hapax.queue AS q WHERE q.event = e.no AND NOT q.listen) AS q
      CROSS JOIN LATERAL (
        SELECT max(a.settled_at) AS ended_at FROM hapax.attempt AS a
         WHERE a.event = e.no AND a.event BETWEEN low AND high AND a.outcome = 0
           AND NOT a.listen) AS a
     WHERE NOT q.holds
       AND greatest(e.received_at, q.ended_at, a.ended_at)
           + CASE WHEN q.dead THEN p.keep_dead_ms ELSE p.keep_ms END * interval '1 millisecond'
           <= moment);
END
$$;

-- Every delivery that the event has had: those of the queue, and the completed ones.
CREATE OR REPLACE FUNCTION hapax._deliveries(wanted bigint)
RETURNS TABLE (delivery int, destination int, listen boolean, state smallint, replay_of int,
               replay bigint)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
    SELECT q.delivery, q.destination, q.listen, q.state, q.replay_of, q.replay
      FROM hapax.queue AS q WHERE q.event = wanted
    UNION ALL
    SELECT a.delivery, a.destination, a.listen, 5::smallint, NULL, 0
      FROM hapax.attempt AS a
     WHERE a.event = wanted AND a.outcome = 0
       AND NOT EXISTS (SELECT 1 FROM hapax.queue AS q
                        WHERE q.event = wanted AND q.delivery = a.delivery);
END
$$;

-- ---- Leases ----

-- The token of the request that leased it last: see hapax._lease_once.
ALTER TABLE hapax.queue ADD COLUMN lease_token bigint;

-- Leases these deliveries, whose rows are locked, until their events have `most` bytes, because the
-- whole answer is in memory. Lengths are read without the bodies. Returns rows of hapax._lease_once.
CREATE FUNCTION hapax._lease_these(of_request bigint, events bigint[], deliveries int[],
                                   lease_ms bigint, of_kind bigint, of_owner bigint, token bigint,
                                   most bigint, moment timestamptz)
RETURNS TABLE (request bigint, place bigint, passed bigint, due timestamptz, delivery bigint,
               fence bigint, attempts bigint, abandons bigint, until timestamptz, replay_of bigint,
               event bigint, source bigint, tenant bytea, id bytea, type bytea, headers bytea,
               body bytea, received_at timestamptz, would bigint)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
    WITH w AS MATERIALIZED (
      SELECT x.*
        FROM (SELECT u.place, u.delivery AS nth, e.*,
                     sum(octet_length(e.headers) + octet_length(e.body)) OVER (ORDER BY u.place)
                       - octet_length(e.headers) - octet_length(e.body) AS bytes
                FROM unnest(events, deliveries) WITH ORDINALITY AS u (event, delivery, place)
                JOIN hapax.event AS e ON e.no = u.event AND e.no = ANY (events)) AS x
       WHERE x.bytes < most)
    UPDATE hapax.queue AS q
       SET due_at = moment + lease_ms * interval '1 millisecond', fence = nextval('hapax.fence'),
           holder_kind = of_kind, holder = of_owner, lease_token = token,
           abandons = q.abandons + CASE WHEN q.holder_kind > 0 THEN 1 ELSE 0 END,
           sent_first = q.first_sent_at IS NULL, first_sent_at = coalesce(q.first_sent_at, moment)
      FROM w WHERE q.event = w.no AND q.delivery = w.nth
    RETURNING of_request, w.place, NULL::bigint, NULL::timestamptz, q.delivery::bigint, q.fence,
              q.attempts::bigint, q.abandons::bigint, q.due_at, q.replay_of::bigint, w.no,
              w.source::bigint, w.tenant, w.id, w.type, w.headers, w.body, w.received_at,
              w.would::bigint;
END
$$;

-- Leases for a batch of requests, in their order. For each request whose destination is not paused a
-- row without a delivery says how many were looked at and not leased, and the oldest time that was
-- due; then the leases. floors_us is only a hint where to begin: with a transaction that is held open
-- the index is full of entries that are over, all of them at its old end.
--
-- token: random, of this statement; NULL: none. lost_ms: NULL the first time. When the answer is lost,
-- the statement is repeated with the same token, and lost_ms is at least the time since it was sent.
-- The repeat first frees the leases of the lost statement, which no worker has seen and which must not
-- count as abandoned. The advisory lock makes it wait for a lost statement that is still running.
CREATE FUNCTION hapax._lease_once(destinations bigint[], mosts bigint[], leases_ms bigint[],
                                  kinds bigint[], owners bigint[], max_abandons bigint[],
                                  horizons_ms bigint[], blocks bigint[], floors_us bigint[],
                                  superseded_max bigint, bytes_max bigint, at timestamptz,
                                  token bigint, lost_ms bigint)
RETURNS TABLE (request bigint, place bigint, passed bigint, due timestamptz, delivery bigint,
               fence bigint, attempts bigint, abandons bigint, until timestamptz, replay_of bigint,
               event bigint, source bigint, tenant bytea, id bytea, type bytea, headers bytea,
               body bytea, received_at timestamptz, would bigint)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  moment     timestamptz;
  r          record;
  picked     bigint[];
  nths       int[];
  looked     bigint;
  leased     bigint;
  oldest     timestamptz;
  is_special boolean;
BEGIN
  PERFORM hapax._check_epoch(true);
  PERFORM hapax._be_durable();
  IF token IS NOT NULL THEN
    PERFORM pg_advisory_xact_lock(token);
  END IF;
  moment := hapax._moment_ms(at);
  FOR r IN
    SELECT w.*, timestamptz 'epoch' + w.floor_us * interval '1 microsecond' AS floor
      FROM unnest(destinations, mosts, leases_ms, kinds, owners, max_abandons, horizons_ms, blocks,
                  floors_us) WITH ORDINALITY
             AS w (destination, most, lease_ms, kind, owner, max_abandons, horizon_ms, block, floor_us,
                   request)
     WHERE NOT EXISTS (SELECT 1 FROM hapax.pause AS p WHERE p.destination = w.destination)
     ORDER BY w.request
  LOOP
    IF lost_ms IS NOT NULL THEN
      WITH mine AS MATERIALIZED (
        SELECT q.event, q.delivery FROM hapax.queue AS q
         WHERE q.destination = r.destination AND q.state = 0
           AND q.due_at >= moment + (r.lease_ms - lost_ms) * interval '1 millisecond'
           AND q.due_at <= moment + r.lease_ms * interval '1 millisecond'
           AND q.lease_token = token AND q.holder_kind = r.kind AND q.holder = r.owner
           FOR UPDATE SKIP LOCKED)
      UPDATE hapax.queue AS q
         SET due_at = moment, holder_kind = NULL, holder = NULL, fence = nextval('hapax.fence'),
             first_sent_at = CASE WHEN q.sent_first THEN NULL ELSE q.first_sent_at END
        FROM mine AS m WHERE q.event = m.event AND q.delivery = m.delivery;
    END IF;
    SELECT array_agg(p.event), array_agg(p.delivery), count(*), min(p.due_at), bool_or(p.special)
      INTO picked, nths, looked, oldest, is_special
      FROM (SELECT q.event, q.delivery, q.due_at,
                   (q.holder_kind > 0 AND r.max_abandons > 0)
                     OR (q.version IS NOT NULL AND q.guard = 0 AND q.lane IS NOT NULL)
                     OR (r.horizon_ms > 0 AND q.first_sent_at IS NOT NULL) AS special
              FROM hapax.queue AS q
             WHERE q.destination = r.destination AND q.state = 0
               AND q.due_at >= r.floor AND q.due_at <= moment
             ORDER BY q.due_at, q.event, q.delivery
             LIMIT r.most FOR UPDATE SKIP LOCKED) AS p;
    IF is_special THEN
      SELECT s.kept_events, s.kept_deliveries INTO picked, nths
        FROM hapax._sift(picked, nths, r.max_abandons, r.horizon_ms, r.block = 1, superseded_max,
                         moment) AS s;
    END IF;
    leased := 0;
    IF picked IS NOT NULL THEN
      RETURN QUERY
        SELECT l.* FROM hapax._lease_these(r.request, picked, nths, r.lease_ms, r.kind, r.owner, token,
                                           bytes_max, moment) AS l;
      GET DIAGNOSTICS leased = ROW_COUNT;
    END IF;
    RETURN QUERY
      SELECT r.request, 0::bigint, looked - leased, coalesce(oldest, moment),
             NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint, NULL::timestamptz, NULL::bigint,
             NULL::bigint, NULL::bigint, NULL::bytea, NULL::bytea, NULL::bytea, NULL::bytea,
             NULL::bytea, NULL::timestamptz, NULL::bigint;
  END LOOP;
END
$$;

-- As before, for older nodes.
CREATE OR REPLACE FUNCTION hapax._lease(
  destinations bigint[], mosts bigint[], leases_ms bigint[], kinds bigint[], owners bigint[],
  max_abandons bigint[], horizons_ms bigint[], blocks bigint[], floors_us bigint[],
  superseded_max bigint, bytes_max bigint, at timestamptz)
RETURNS TABLE (request bigint, place bigint, passed bigint, due timestamptz, delivery bigint,
               fence bigint, attempts bigint, abandons bigint, until timestamptz, replay_of bigint,
               event bigint, source bigint, tenant bytea, id bytea, type bytea, headers bytea,
               body bytea, received_at timestamptz, would bigint)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
BEGIN
  RETURN QUERY
    SELECT l.* FROM hapax._lease_once(destinations, mosts, leases_ms, kinds, owners, max_abandons,
                                      horizons_ms, blocks, floors_us, superseded_max, bytes_max, at,
                                      NULL, NULL) AS l;
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
       AND p.proname IN ('_admit', '_cancel', '_enqueue', '_move_messages', '_release_holder',
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

-- Sessions that are open already go on: in their transactions the numbers are only compared.
DO $$ BEGIN PERFORM hapax._check_epoch(true); END $$;
