-- Retention, in steps.

-- Of these events the ones that may go: no work left, and long enough since the last of it ended.
CREATE FUNCTION hapax._may_go(nos bigint[], sources bigint[], keeps_ms bigint[], keeps_dead_ms bigint[],
                              moment timestamptz)
RETURNS bigint[]
LANGUAGE sql VOLATILE SET search_path = pg_catalog
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
  SELECT coalesce(array_agg(e.no ORDER BY e.no), '{}')
    FROM unnest(nos) AS w (no)
    JOIN hapax.event AS e ON e.no = w.no
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
       WHERE a.event = e.no AND a.outcome = 0 AND NOT a.listen) AS a
   WHERE NOT q.holds
     AND greatest(e.received_at, q.ended_at, a.ended_at)
         + CASE WHEN q.dead THEN p.keep_dead_ms ELSE p.keep_ms END * interval '1 millisecond' <= moment
$$;

-- Removes what may go of these events. A replay or a cancel has the event's row: that one stays.
CREATE FUNCTION hapax._remove_events(nos bigint[], sources bigint[], keeps_ms bigint[],
                                     keeps_dead_ms bigint[], moment timestamptz)
RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  going bigint[];
BEGIN
  going := hapax._may_go(nos, sources, keeps_ms, keeps_dead_ms, moment);
  IF cardinality(going) = 0 THEN
    RETURN 0;
  END IF;
  going := ARRAY(SELECT e.no FROM hapax.event AS e WHERE e.no = ANY (going) ORDER BY e.no
                    FOR UPDATE SKIP LOCKED);
  PERFORM 1 FROM hapax.queue AS q WHERE q.event = ANY (going) ORDER BY q.event, q.delivery FOR UPDATE;
  going := hapax._may_go(going, sources, keeps_ms, keeps_dead_ms, moment);
  DELETE FROM hapax.queue AS q WHERE q.event = ANY (going);
  DELETE FROM hapax.variant AS v WHERE v.event = ANY (going);
  DELETE FROM hapax.duplicate AS d WHERE d.event = ANY (going);
  DELETE FROM hapax.event AS e WHERE e.no = ANY (going);
  UPDATE hapax.sweep AS s SET floor = going[cardinality(going)]
   WHERE s.floor < going[cardinality(going)];
  RETURN cardinality(going);
END
$$;

-- The partitions of `parent`, oldest first: name, day as it is in the name, range of numbers.
CREATE FUNCTION hapax._days(parent regclass)
RETURNS TABLE (part regclass, day text, first bigint, last bigint)
LANGUAGE sql STABLE SET search_path = pg_catalog AS $$
  SELECT p.part, p.day, (p.n * 86400000) << 22,
         ((p.n * 86400000) << 22) + (86400000::bigint << 22) - 1
    FROM (SELECT i.inhrelid::regclass AS part, right(c.relname, 8) AS day,
                 (to_date(right(c.relname, 8), 'YYYYMMDD') - date '2024-01-01')::bigint AS n
            FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
           WHERE i.inhparent = parent) AS p
   ORDER BY p.n
$$;

-- Whether nothing of a day has work left, and nothing of it happened after `cut`. The partitions are
-- asked by name, so that only their small indexes of time can serve.
CREATE FUNCTION hapax._is_day_over(day text, first bigint, last bigint, cut timestamptz)
RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog SET enable_seqscan = off SET jit = off AS $$
DECLARE
  recent boolean;
BEGIN
  IF EXISTS (SELECT 1 FROM hapax.queue AS q WHERE q.event BETWEEN first AND last
                AND NOT q.listen AND (q.state <= 1 OR q.blocks OR q.ended_at > cut)) THEN
    RETURN false;
  END IF;
  EXECUTE format('SELECT EXISTS (SELECT 1 FROM hapax.%I WHERE received_at > $1)', 'event_' || day)
    INTO recent USING cut;
  IF recent OR to_regclass('hapax.attempt_' || day) IS NULL THEN
    RETURN NOT recent;
  END IF;
  EXECUTE format('SELECT EXISTS (SELECT 1 FROM hapax.%I WHERE settled_at > $1)', 'attempt_' || day)
    INTO recent USING cut;
  RETURN NOT recent;
END
$$;

-- Drops the oldest day whose every event may go, when that is certain at a glance: all sources are
-- named, and nothing of the day happened within the longest period. Asked again under the lock,
-- which is given up after 50 ms: then another step tries. Returns how many events went; about, when
-- they are many.
CREATE FUNCTION hapax._drop_event_day(sources bigint[], longest_ms bigint, moment timestamptz)
RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $$
DECLARE
  cut   timestamptz := moment - longest_ms * interval '1 millisecond';
  usual text := current_setting('lock_timeout');
  gone  bigint := 0;
  d     record;
BEGIN
  IF EXISTS (SELECT 1 FROM hapax.name AS n WHERE n.kind = 0 AND n.number <> ALL (sources)) THEN
    RETURN 0;
  END IF;
  FOR d IN
    SELECT x.*, c.reltuples FROM hapax._days('hapax.event') AS x JOIN pg_class AS c ON c.oid = x.part
     -- Not the days that are being written, nor the next.
     WHERE timestamptz '2024-01-01 00:00:00+00' + (x.last >> 22) * interval '1 millisecond'
           < least(moment, clock_timestamp()) - interval '1 day'
     ORDER BY x.first
  LOOP
    CONTINUE WHEN NOT hapax._is_day_over(d.day, d.first, d.last, cut);
    PERFORM set_config('lock_timeout', '50ms', true);
    LOCK TABLE ONLY hapax.event IN ACCESS EXCLUSIVE MODE;
    EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', d.part);
    EXIT WHEN NOT hapax._is_day_over(d.day, d.first, d.last, cut);
    gone := d.reltuples;
    IF gone < 100000 THEN
      EXECUTE format('SELECT count(*) FROM %s', d.part) INTO gone;
    END IF;
    UPDATE hapax.sweep AS s SET floor = m.no
      FROM (SELECT max(e.no) AS no FROM hapax.event AS e WHERE e.no BETWEEN d.first AND d.last) AS m
     WHERE s.floor < m.no;
    DELETE FROM hapax.queue AS q WHERE q.event BETWEEN d.first AND d.last;
    DELETE FROM hapax.variant AS v WHERE v.event BETWEEN d.first AND d.last;
    DELETE FROM hapax.duplicate AS u WHERE u.event BETWEEN d.first AND d.last;
    EXECUTE format('DROP TABLE %s', d.part);
    EXIT;
  END LOOP;
  PERFORM set_config('lock_timeout', usual, true);
  RETURN gone;
EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
  RETURN 0;
END
$$;

-- Drops the oldest day of attempts when its events' day is gone and so is the time of all its rows.
CREATE FUNCTION hapax._drop_attempt_day(cut timestamptz) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $$
DECLARE
  d     record;
  usual text := current_setting('lock_timeout');
BEGIN
  FOR d IN
    SELECT x.* FROM hapax._days('hapax.attempt') AS x
     WHERE NOT EXISTS (SELECT 1 FROM hapax._days('hapax.event') AS y WHERE y.first = x.first)
     ORDER BY x.first LIMIT 1
  LOOP
    PERFORM set_config('lock_timeout', '50ms', true);
    LOCK TABLE ONLY hapax.attempt IN ACCESS EXCLUSIVE MODE;
    EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', d.part);
    CONTINUE WHEN EXISTS (SELECT 1 FROM hapax.attempt AS a WHERE a.event BETWEEN d.first AND d.last
                             AND a.settled_at > cut);
    EXECUTE format('DROP TABLE %s', d.part);
    PERFORM set_config('lock_timeout', usual, true);
    RETURN true;
  END LOOP;
  PERFORM set_config('lock_timeout', usual, true);
  RETURN false;
EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
  RETURN false;
END
$$;

-- Removes up to `most` attempts of events that are gone, whose delivery was settled last a day ago,
-- from where the last step stopped. Returns how many were looked at, and removed.
CREATE FUNCTION hapax._remove_attempts(most bigint, cut timestamptz, OUT looked bigint, OUT removed bigint)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  s     hapax.sweep;
  found record;
BEGIN
  SELECT x.* INTO s FROM hapax.sweep AS x;
  SELECT array_agg(a.event) AS events, array_agg(a.delivery) AS deliveries, sum(a.n)::bigint AS n,
         (array_agg(a.event ORDER BY a.event DESC, a.delivery DESC))[1] AS event,
         (array_agg(a.delivery ORDER BY a.event DESC, a.delivery DESC))[1] AS delivery
    INTO found
    FROM (SELECT b.event, b.delivery, count(*) AS n
            FROM (SELECT x.event, x.delivery FROM hapax.attempt AS x
                   WHERE (x.event, x.delivery) > (s.attempt_event, s.attempt_delivery)
                   ORDER BY x.event, x.delivery, x.fence LIMIT most) AS b
           GROUP BY b.event, b.delivery) AS a;
  looked := coalesce(found.n, 0);
  removed := 0;
  IF looked > 0 THEN
    DELETE FROM hapax.attempt AS a
     USING (SELECT w.event, w.delivery FROM unnest(found.events, found.deliveries) AS w (event, delivery)
             WHERE NOT EXISTS (SELECT 1 FROM hapax.event AS e WHERE e.no = w.event)
               AND NOT EXISTS (SELECT 1 FROM hapax.attempt AS x WHERE x.event = w.event
                                  AND x.delivery = w.delivery AND x.settled_at > cut)) AS w
     WHERE a.event = w.event AND a.delivery = w.delivery;
    GET DIAGNOSTICS removed = ROW_COUNT;
    UPDATE hapax.sweep AS x SET attempt_event = found.event, attempt_delivery = found.delivery;
  END IF;
END
$$;

-- One step. The row of hapax.sweep is the lock: one node at a time.
CREATE FUNCTION hapax._sweep(sources bigint[], keeps_ms bigint[], keeps_dead_ms bigint[],
                             keep_attempts_ms bigint, most bigint, at timestamptz,
                             OUT events bigint, OUT others bigint, OUT done boolean)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog SET jit = off AS $$
DECLARE
  moment timestamptz;
  s      hapax.sweep;
  nos    bigint[];
  rest   bigint := most;
  a      record;
  n      bigint;
BEGIN
  PERFORM hapax._be_durable();
  SELECT x.* INTO s FROM hapax.sweep AS x FOR UPDATE;
  moment := hapax._moment_ms(at);
  events := 0;
  others := 0;
  done := false;
  IF s.phase = 0 AND s.event = 0 AND cardinality(sources) > 0 THEN
    events := hapax._drop_event_day(
      sources, (SELECT max(k) FROM unnest(keeps_ms || keeps_dead_ms) AS k), moment);
  END IF;
  IF s.phase = 0 THEN
    nos := ARRAY(SELECT e.no FROM hapax.event AS e WHERE e.no > s.event ORDER BY e.no LIMIT rest);
    n := cardinality(nos);
    events := events + hapax._remove_events(nos, sources, keeps_ms, keeps_dead_ms, moment);
    IF n = rest THEN
      UPDATE hapax.sweep AS x SET event = nos[n];
      RETURN;
    END IF;
    rest := rest - n;
    s.phase := 1;
    UPDATE hapax.sweep AS x SET event = 0, phase = 1, attempt_event = 0, attempt_delivery = 0;
    IF hapax._drop_attempt_day(moment - keep_attempts_ms * interval '1 millisecond') THEN
      others := others + 1;
    END IF;
  END IF;
  IF s.phase = 1 THEN
    SELECT r.* INTO a
      FROM hapax._remove_attempts(rest, moment - keep_attempts_ms * interval '1 millisecond') AS r;
    others := others + a.removed;
    IF a.looked = rest THEN
      RETURN;
    END IF;
    rest := rest - a.looked;
    s.phase := 2;
    UPDATE hapax.sweep AS x SET phase = 2;
  END IF;
  IF s.phase = 2 THEN
    DELETE FROM hapax.claim WHERE ctid = ANY (ARRAY(
      SELECT c.ctid FROM hapax.claim AS c
       WHERE c.expires_at <= moment AND c.event IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM hapax.event AS e WHERE e.no = c.event)
       LIMIT rest FOR UPDATE OF c SKIP LOCKED));
    GET DIAGNOSTICS n = ROW_COUNT;
    others := others + n;
    IF n = rest THEN
      RETURN;
    END IF;
    rest := rest - n;
    UPDATE hapax.sweep AS x SET phase = 3;
  END IF;
  DELETE FROM hapax.lane WHERE ctid = ANY (ARRAY(
    SELECT l.ctid FROM hapax.lane AS l
     WHERE l.head_event IS NULL AND (l.version IS NULL OR l.version_until <= moment)
     LIMIT rest FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS n = ROW_COUNT;
  others := others + n;
  IF n < rest THEN
    UPDATE hapax.sweep AS x SET phase = 0, event = 0;
    done := true;
  END IF;
END
$$;
