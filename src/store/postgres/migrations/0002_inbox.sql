-- The inbox: tables, and what stands beside the queue. What leases and settles is in the migrations
-- after this one. Times are store time in whole milliseconds; numbers of enums are those of
-- model/delivery.hpp.

-- An event's claim names the event in place of a token. It is not purge's: it stays while its event
-- is there, and goes with hapax._sweep.
ALTER TABLE hapax.claim ALTER COLUMN token DROP NOT NULL, ADD COLUMN event bigint;

CREATE OR REPLACE FUNCTION hapax._purge(most bigint, at timestamptz) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog
SET plan_cache_mode = force_custom_plan AS $$
DECLARE
  moment  timestamptz := hapax._moment(at);  -- read once: an index is of no use to a volatile function
  removed bigint;
BEGIN
  DELETE FROM hapax.claim WHERE ctid = ANY (ARRAY(
    SELECT c.ctid FROM hapax.claim AS c WHERE c.expires_at <= moment AND c.event IS NULL
     LIMIT most FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END
$$;

-- Fences and places in lanes. One value at a time: what is drawn later must be larger, on every
-- connection. A sequence keeps no promise about gaps, and nothing here relies on any.
CREATE SEQUENCE hapax.fence CACHE 1;

-- Written once, never updated. By number in partitions of a day, so that retention can drop a day as
-- a whole; there is no default partition, because it would have to be searched for every new one.
CREATE TABLE hapax.event (
  no          bigint      NOT NULL PRIMARY KEY,
  source      int         NOT NULL,
  would       smallint    NOT NULL,
  key_id      int,                              -- for encryption
  received_at timestamptz NOT NULL,
  version     bigint,
  tenant      bytea       NOT NULL,
  id          bytea       NOT NULL,
  type        bytea       NOT NULL,
  order_key   bytea       NOT NULL,
  digest      bytea       NOT NULL,
  headers     bytea       NOT NULL,
  body        bytea       NOT NULL
) PARTITION BY RANGE (no);
CREATE INDEX event_received_at ON hapax.event USING brin (received_at);

-- Every lease that was settled. Of a completed delivery this is all there is.
CREATE TABLE hapax.attempt (
  event       bigint      NOT NULL,
  fence       bigint      NOT NULL,
  settled_at  timestamptz NOT NULL,
  began_us    bigint      NOT NULL,             -- by the clock of the one who tried
  took_ms     bigint      NOT NULL,
  delivery    int         NOT NULL,
  destination int         NOT NULL,
  status      int         NOT NULL,
  outcome     smallint    NOT NULL,
  listen      boolean     NOT NULL,
  error       bytea       NOT NULL,
  excerpt     bytea       NOT NULL,
  PRIMARY KEY (event, delivery, fence)
) PARTITION BY RANGE (event);
CREATE INDEX attempt_settled_at ON hapax.attempt USING brin (settled_at);

DO $$
BEGIN
  ALTER TABLE hapax.event ALTER COLUMN body SET COMPRESSION lz4;
  ALTER TABLE hapax.event ALTER COLUMN headers SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN  -- a server without it has its own
END
$$;

-- All deliveries but the completed ones that no replay made. state: 0 open (leased or to be leased,
-- from due_at on), 1 waiting in its lane, 2 dead, 3 cancelled, 4 superseded, 5 completed. A holder is
-- there as long as a lease may be settled.
CREATE TABLE hapax.queue (
  event         bigint      NOT NULL,
  fence         bigint      NOT NULL,
  due_at        timestamptz NOT NULL,
  holder        bigint,
  lane_seq      bigint,
  version       bigint,
  first_sent_at timestamptz,
  ended_at      timestamptz,
  replay        bigint      NOT NULL DEFAULT 0,
  delivery      int         NOT NULL,
  destination   int         NOT NULL,
  attempts      int         NOT NULL DEFAULT 0,
  abandons      int         NOT NULL DEFAULT 0,
  replay_of     int,
  state         smallint    NOT NULL,
  guard         smallint    NOT NULL,           -- 0 compared and moves, 1 moves only, 2 neither
  reason        smallint    NOT NULL DEFAULT 0,
  holder_kind   smallint,
  listen        boolean     NOT NULL,
  sent_first    boolean     NOT NULL DEFAULT false,  -- its last lease set first_sent_at
  blocks        boolean     NOT NULL DEFAULT false,  -- the dead head of its lane
  lane          bytea,
  PRIMARY KEY (event, delivery)
) WITH (fillfactor = 80, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_scale_factor = 0);
CREATE INDEX queue_due ON hapax.queue (destination, due_at, event, delivery) WHERE state = 0;
CREATE INDEX queue_lane ON hapax.queue (destination, lane, lane_seq) WHERE state = 1;

-- Its row is locked before anything of the lane changes. It has a head as long as it has members.
CREATE TABLE hapax.lane (
  head_event    bigint,
  version       bigint,                         -- the highest completed
  version_until timestamptz,
  remember_ms   bigint      NOT NULL,
  destination   int         NOT NULL,
  head_delivery int,
  key           bytea       NOT NULL,
  PRIMARY KEY (destination, key)
) WITH (fillfactor = 80, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_scale_factor = 0);

CREATE TABLE hapax.duplicate (event bigint PRIMARY KEY, count bigint NOT NULL);
CREATE TABLE hapax.variant (
  event  bigint NOT NULL,
  at_us  bigint NOT NULL,
  n      int    NOT NULL,
  digest bytea  NOT NULL,
  body   bytea,                                 -- of the last one only
  PRIMARY KEY (event, n)
);

CREATE TABLE hapax.name (
  kind   smallint NOT NULL,                     -- 0 source, 1 destination
  number int      NOT NULL,
  name   text     COLLATE "C" NOT NULL,
  PRIMARY KEY (kind, number),
  UNIQUE (kind, name)
);
CREATE TABLE hapax.node (
  no    int PRIMARY KEY,
  owner bytea,
  until timestamptz NOT NULL
);
CREATE TABLE hapax.secret (
  one   boolean PRIMARY KEY DEFAULT true CHECK (one),
  value bytea NOT NULL
);
CREATE TABLE hapax.pause (destination int PRIMARY KEY);
CREATE TABLE hapax.seen (source int PRIMARY KEY, at timestamptz NOT NULL);
CREATE TABLE hapax.reject (
  no          bigint PRIMARY KEY,
  received_us bigint NOT NULL,
  source      int    NOT NULL,
  tenant      bytea  NOT NULL,
  reason      bytea  NOT NULL,
  detail      bytea  NOT NULL,
  method      bytea  NOT NULL,
  url         bytea  NOT NULL,
  headers     bytea  NOT NULL,
  proof       bytea  NOT NULL,
  body        bytea  NOT NULL
);
CREATE INDEX reject_source ON hapax.reject (source, no);

-- How far retention came, and the largest number it has removed.
CREATE TABLE hapax.sweep (
  one              boolean PRIMARY KEY DEFAULT true CHECK (one),
  phase            smallint NOT NULL DEFAULT 0,  -- 0 events, 1 attempts, 2 claims, 3 lanes
  event            bigint   NOT NULL DEFAULT 0,
  attempt_event    bigint   NOT NULL DEFAULT 0,
  attempt_delivery int      NOT NULL DEFAULT 0,
  floor            bigint   NOT NULL DEFAULT 0
);
INSERT INTO hapax.sweep DEFAULT VALUES;

-- The store's time in whole milliseconds.
CREATE FUNCTION hapax._moment_ms(at timestamptz) RETURNS timestamptz
LANGUAGE sql VOLATILE AS
  'SELECT pg_catalog.date_trunc(''milliseconds'', coalesce(at, pg_catalog.clock_timestamp()))';

-- Makes the partitions of these days (since 2024, as event numbers count), where they are missing.
-- Several nodes may do it at once; nobody else waits for it.
CREATE FUNCTION hapax._make_days(days bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $$
DECLARE
  day    bigint;
  parent text;
  part   text;
BEGIN
  PERFORM pg_advisory_xact_lock(448345170297);
  FOR day, parent IN
    SELECT DISTINCT d.d, p.p FROM unnest(days) AS d (d), unnest(ARRAY['attempt', 'event']) AS p (p)
     ORDER BY 1, 2
  LOOP
    part := parent || to_char(date '2024-01-01' + day::int, '"_"YYYYMMDD');
    BEGIN
      -- Made apart and then attached: that locks out no reader or writer of the others. What is there
      -- was attached by the transaction that made it. (A snapshot may be too old to see that.)
      EXECUTE format('CREATE TABLE hapax.%I (LIKE hapax.%I INCLUDING ALL)', part, parent);
      EXECUTE format('ALTER TABLE hapax.%I ATTACH PARTITION hapax.%I FOR VALUES FROM (%s) TO (%s)',
                     parent, part, (day * 86400000) << 22,
                     CASE WHEN day >= 25451 THEN 'MAXVALUE' ELSE (((day + 1) * 86400000) << 22)::text END);
    EXCEPTION WHEN duplicate_table THEN
    END;
  END LOOP;
END
$$;

-- The number of a name, given once.
CREATE FUNCTION hapax._number_of(wanted_kind bigint, wanted text) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $$
DECLARE
  found_number bigint;
BEGIN
  SELECT n.number INTO found_number FROM hapax.name AS n
   WHERE n.kind = wanted_kind AND n.name = wanted;
  IF FOUND THEN
    RETURN found_number;
  END IF;
  PERFORM hapax._be_durable();
  PERFORM pg_advisory_xact_lock(448345170298);
  INSERT INTO hapax.name (kind, number, name)
    SELECT wanted_kind, 1 + coalesce(max(n.number), 0), wanted
      FROM hapax.name AS n WHERE n.kind = wanted_kind
    ON CONFLICT DO NOTHING;
  SELECT n.number INTO STRICT found_number FROM hapax.name AS n
   WHERE n.kind = wanted_kind AND n.name = wanted;
  RETURN found_number;
END
$$;

-- A node number for this owner; NULL when all are taken.
CREATE FUNCTION hapax._take_node(wanted bytea, lease_ms bigint, at timestamptz) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $$
DECLARE
  moment timestamptz := hapax._moment_ms(at);
  number bigint;
BEGIN
  PERFORM hapax._be_durable();
  PERFORM pg_advisory_xact_lock(448345170299);
  SELECT n.no INTO number FROM hapax.node AS n WHERE n.owner = wanted;
  IF NOT FOUND THEN
    SELECT s.no INTO number FROM generate_series(0, 1023) AS s (no)
      LEFT JOIN hapax.node AS n ON n.no = s.no
     WHERE n.no IS NULL OR n.until <= moment
     ORDER BY n.no IS NOT NULL, n.until, s.no LIMIT 1;
  END IF;
  IF number IS NOT NULL THEN
    INSERT INTO hapax.node AS n (no, owner, until)
      VALUES (number, wanted, moment + lease_ms * interval '1 millisecond')
      ON CONFLICT (no) DO UPDATE SET owner = excluded.owner, until = excluded.until;
  END IF;
  RETURN number;
END
$$;

CREATE FUNCTION hapax._leave_node(wanted bytea, at timestamptz) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $$
BEGIN
  PERFORM hapax._be_durable();
  PERFORM pg_advisory_xact_lock(448345170299);
  UPDATE hapax.node AS n SET owner = NULL, until = least(n.until, hapax._moment_ms(at))
   WHERE n.owner = wanted;
END
$$;

CREATE FUNCTION hapax._secret(proposed bytea) RETURNS bytea
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $$
BEGIN
  PERFORM hapax._be_durable();
  INSERT INTO hapax.secret (value) VALUES (proposed) ON CONFLICT DO NOTHING;
  RETURN (SELECT s.value FROM hapax.secret AS s);
END
$$;

CREATE FUNCTION hapax._pause(destination bigint, paused boolean) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $$
BEGIN
  PERFORM hapax._be_durable();
  IF paused THEN
    INSERT INTO hapax.pause VALUES (_pause.destination) ON CONFLICT DO NOTHING;
  ELSE
    DELETE FROM hapax.pause AS p WHERE p.destination = _pause.destination;
  END IF;
END
$$;

-- Rejects, of which each source has its newest `most`.
CREATE FUNCTION hapax._add_rejects(nos bigint[], sources bigint[], received bigint[], tenants bytea[],
                                   reasons bytea[], details bytea[], methods bytea[], urls bytea[],
                                   headers bytea[], proofs bytea[], bodies bytea[], most bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $$
BEGIN
  PERFORM hapax._be_durable();
  INSERT INTO hapax.reject (no, source, received_us, tenant, reason, detail, method, url, headers,
                            proof, body)
    SELECT * FROM unnest(nos, sources, received, tenants, reasons, details, methods, urls, headers,
                         proofs, bodies) AS w (no) ORDER BY w.no
    ON CONFLICT DO NOTHING;
  DELETE FROM hapax.reject WHERE ctid = ANY (ARRAY(
    SELECT o.ctid FROM (SELECT DISTINCT s FROM unnest(sources) AS s) AS s
      CROSS JOIN LATERAL (SELECT r.no FROM hapax.reject AS r WHERE r.source = s.s
                           ORDER BY r.no DESC OFFSET most LIMIT 1) AS newest
      JOIN hapax.reject AS o ON o.source = s.s AND o.no <= newest.no
     ORDER BY o.no FOR UPDATE OF o SKIP LOCKED));
END
$$;

-- Counts duplicates, and keeps the digests of the first `most` changed bodies of each event and the
-- bytes of the last. The row of the count is the lock.
CREATE FUNCTION hapax._note_duplicates(events bigint[], counts bigint[], changed bigint[],
                                       digests bytea[], ats_us bigint[], bodies bytea[], most bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $$
DECLARE
  w     record;
  known int;
BEGIN
  PERFORM hapax._be_durable();
  INSERT INTO hapax.duplicate AS d (event, count)
    SELECT n.event, sum(n.count) FROM unnest(events, counts) AS n (event, count)
     WHERE EXISTS (SELECT 1 FROM hapax.event AS e WHERE e.no = n.event)
     GROUP BY n.event ORDER BY n.event
    ON CONFLICT (event) DO UPDATE SET count = d.count + excluded.count;
  FOR w IN
    SELECT n.* FROM unnest(events, changed, digests, ats_us, bodies) WITH ORDINALITY
             AS n (event, changed, digest, at_us, body, place)
      JOIN hapax.event AS e ON e.no = n.event AND e.digest <> n.digest
     WHERE n.changed = 1 ORDER BY n.event, n.place
  LOOP
    CONTINUE WHEN EXISTS (SELECT 1 FROM hapax.variant AS v
                           WHERE v.event = w.event AND v.digest = w.digest);
    SELECT count(*) INTO known FROM hapax.variant AS v WHERE v.event = w.event;
    CONTINUE WHEN known >= most;
    UPDATE hapax.variant AS v SET body = NULL WHERE v.event = w.event AND v.body IS NOT NULL;
    INSERT INTO hapax.variant (event, n, digest, at_us, body)
      VALUES (w.event, known + 1, w.digest, w.at_us, w.body);
  END LOOP;
END
$$;
