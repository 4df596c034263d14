-- Days of events are made ahead, and nothing waits for a lock that a stranger may hold.

-- One row for each day of events, numbered since 2024 as event numbers count.
CREATE TABLE hapax.day (
  n           bigint      PRIMARY KEY,
  goes_at     timestamptz NOT NULL DEFAULT '-infinity',  -- no event of it can be removed before
  looked_at   timestamptz NOT NULL DEFAULT '-infinity',
  periods     bytea,                                     -- digest of those that goes_at is right for
  attempts_at timestamptz NOT NULL DEFAULT 'infinity',   -- when some of removed events may go
  closed_at   timestamptz                                -- from then on all of it is removed
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

-- Whether that is a partition of hapax.<parent>. A look at the catalogue: it waits for nobody, and
-- sees what was committed since the snapshot was taken.
CREATE FUNCTION hapax._is_partition(parent text, part text) RETURNS boolean
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(pg_partition_root(to_regclass('hapax.' || quote_ident(part)))
                    = to_regclass('hapax.' || quote_ident(parent)), false)
$$;

-- The name of a day's partition.
CREATE FUNCTION hapax._part_of(parent text, day bigint) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT parent || to_char(date '2024-01-01' + day::int, '"_"YYYYMMDD')
$$;

-- Makes the partitions of these days, where they are missing. Where they are there it takes no lock.
-- To attach one takes a lock on the parent that VACUUM, ANALYZE and CREATE INDEX take, too, and that
-- stops no reader or writer. Of several who make the same one, those who come later wait for the
-- first at the unique index of the catalogue.
CREATE FUNCTION hapax._need_days(days bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  day    bigint;
  parent text;
  part   text;
BEGIN
  FOR day, parent IN
    SELECT DISTINCT d.d, p.p FROM unnest(days) AS d (d), unnest(ARRAY['attempt', 'event']) AS p (p)
     ORDER BY 1, 2
  LOOP
    part := hapax._part_of(parent, day);
    CONTINUE WHEN hapax._is_partition(parent, part);
    BEGIN
      EXECUTE format('CREATE TABLE hapax.%I (LIKE hapax.%I INCLUDING ALL)', part, parent);
      EXECUTE format('ALTER TABLE hapax.%I ATTACH PARTITION hapax.%I FOR VALUES FROM (%s) TO (%s)',
                     parent, part, (day * 86400000) << 22,
                     CASE WHEN day >= 25451 THEN 'MAXVALUE' ELSE (((day + 1) * 86400000) << 22)::text END);
      IF parent = 'event' THEN
        DELETE FROM hapax.day AS x WHERE x.n = day;  -- of one that was dropped behind our back
        INSERT INTO hapax.day (n) VALUES (day);
      END IF;
    EXCEPTION WHEN duplicate_table OR unique_violation THEN
      IF NOT hapax._is_partition(parent, part) THEN
        RAISE EXCEPTION 'the table hapax.% is no partition of hapax.%; attach it, or give it another name',
                        part, parent USING ERRCODE = '42P07';
      END IF;
    END;
  END LOOP;
END
$$;

-- Those that the next events need: of today and of tomorrow.
CREATE FUNCTION hapax._need_days_from(at timestamptz) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  today bigint := greatest(0, floor(extract(epoch FROM hapax._moment_ms(at)
                                            - timestamptz '2024-01-01 00:00:00+00') / 86400));
BEGIN
  PERFORM hapax._need_days(ARRAY[today, today + 1]);
END
$$;

-- As in 0002. The lock is on the table, because any role that can connect can take an advisory lock.
CREATE OR REPLACE FUNCTION hapax._number_of(wanted_kind bigint, wanted text) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  found_number bigint;
BEGIN
  SELECT n.number INTO found_number FROM hapax.name AS n
   WHERE n.kind = wanted_kind AND n.name = wanted;
  IF FOUND THEN
    RETURN found_number;
  END IF;
  PERFORM hapax._be_durable();
  LOCK TABLE hapax.name IN SHARE ROW EXCLUSIVE MODE;
  INSERT INTO hapax.name (kind, number, name)
    SELECT wanted_kind, 1 + coalesce(max(n.number), 0), wanted
      FROM hapax.name AS n WHERE n.kind = wanted_kind
    ON CONFLICT DO NOTHING;
  SELECT n.number INTO STRICT found_number FROM hapax.name AS n
   WHERE n.kind = wanted_kind AND n.name = wanted;
  RETURN found_number;
END
$$;

CREATE OR REPLACE FUNCTION hapax._take_node(wanted bytea, lease_ms bigint, at timestamptz) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  moment timestamptz := hapax._moment_ms(at);
  number bigint;
BEGIN
  PERFORM hapax._be_durable();
  LOCK TABLE hapax.node IN SHARE ROW EXCLUSIVE MODE;
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

CREATE OR REPLACE FUNCTION hapax._leave_node(wanted bytea, at timestamptz) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM hapax._be_durable();
  LOCK TABLE hapax.node IN SHARE ROW EXCLUSIVE MODE;
  UPDATE hapax.node AS n SET owner = NULL, until = least(n.until, hapax._moment_ms(at))
   WHERE n.owner = wanted;
END
$$;

-- Retention, in steps. Each part of it has a row that says how far it came and that is its lock: one
-- node at a time. (The functions of 0006 are there for older nodes.)
--
-- A day goes in this order: look (nothing of it is needed any more), close (from that commit on all of
-- its events are gone), look again (for what was committed in between), what is beside the events, in
-- steps, then DROP. Only the last takes a lock that stops others, and it waits for it 50 ms at most.
CREATE TABLE hapax.retention (
  part       smallint    PRIMARY KEY,  -- 0 events, 1 attempts, 2 claims of events, 3 lanes, 4 claims of ids
  task       smallint    NOT NULL DEFAULT 0,  -- events: 0 next day, 1 look, 2 remove, 3 beside, 4 drop
  delivery   int         NOT NULL DEFAULT 0,
  day        bigint      NOT NULL DEFAULT -1,  -- that is worked on, or the last one of this pass
  event      bigint      NOT NULL DEFAULT 0,
  seen       bigint      NOT NULL DEFAULT 0,   -- of the day, in this task
  due        bigint      NOT NULL DEFAULT 0,
  least_at   timestamptz NOT NULL DEFAULT 'infinity',
  most_at    timestamptz NOT NULL DEFAULT '-infinity',
  began_at   timestamptz NOT NULL DEFAULT '-infinity',
  rest_until timestamptz NOT NULL DEFAULT '-infinity',  -- after a lock that was not to be had
  place      tid         NOT NULL DEFAULT '(0,0)'
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);
INSERT INTO hapax.retention (part) SELECT n FROM generate_series(0, 4) AS n;

-- Whether retention has removed the whole day of this event number, though its rows may still be there.
CREATE FUNCTION hapax._is_closed(wanted bigint) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT EXISTS (SELECT 1 FROM hapax.day AS d
                  WHERE d.n = (wanted >> 22) / 86400000 AND d.closed_at IS NOT NULL)
$$;

-- The days that are closed, for a look at many events.
CREATE FUNCTION hapax._closed_days() RETURNS bigint[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(array_agg(d.n), '{}') FROM hapax.day AS d WHERE d.closed_at IS NOT NULL
$$;

-- Whoever is about to write beside an event that was there before holds this until the end of the
-- transaction, and then looks whether its day is closed: hapax._close_day waits for all of them.
-- The look must see what was committed before the lock: above read committed a day that was changed
-- meanwhile is 40001.
CREATE FUNCTION hapax._keep_days_open() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  LOCK TABLE hapax.day IN ROW SHARE MODE;
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    PERFORM 1 FROM hapax.day FOR SHARE;
  END IF;
END
$$;

CREATE FUNCTION hapax._refuse_closed() RETURNS trigger
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF hapax._is_closed(NEW.no) THEN
    RAISE EXCEPTION 'the events of this day are being removed' USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END
$$;

-- As the functions of 0005, of events whose day is not closed.
CREATE FUNCTION hapax._cancel_open(wanted bigint, nth bigint, superseded_max bigint, at timestamptz)
RETURNS int
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM hapax._keep_days_open();
  IF hapax._is_closed(wanted) THEN
    RETURN 2;
  END IF;
  RETURN hapax._cancel(wanted, nth, superseded_max, at);
END
$$;

CREATE FUNCTION hapax._replay_open(wanted bigint, nth bigint, as_new boolean, to_only bigint,
                                   accept boolean, number bigint, most bigint, at timestamptz,
                                   OUT status int, OUT deliveries bigint[])
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM hapax._keep_days_open();
  IF hapax._is_closed(wanted) THEN
    status := 4;
    deliveries := '{}';
    RETURN;
  END IF;
  SELECT r.status, r.deliveries INTO _replay_open.status, _replay_open.deliveries
    FROM hapax._replay(wanted, nth, as_new, to_only, accept, number, most, at) AS r;
END
$$;

-- Up to the next closed day; that one is passed over.
CREATE FUNCTION hapax._replay_step_open(
  after bigint, until bigint, most bigint, scan bigint, dry boolean,
  f_source bigint, f_tenant bytea, f_id bytea, f_type bytea, f_order_key bytea, f_status bigint,
  f_since timestamptz, f_until timestamptz,
  as_new boolean, to_only bigint, accept boolean, number bigint, most_deliveries bigint,
  at timestamptz,
  OUT events bigint, OUT deliveries bigint, OUT last bigint, OUT done boolean)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  closed record;
  begin_behind bigint := after;
  up_to  bigint := until;
BEGIN
  PERFORM hapax._keep_days_open();
  FOR closed IN
    SELECT d.first, d.first + (86400000::bigint << 22) - 1 AS last
      FROM (SELECT (x.n * 86400000) << 22 AS first FROM hapax.day AS x
             WHERE x.closed_at IS NOT NULL) AS d
     ORDER BY d.first
  LOOP
    CONTINUE WHEN closed.last <= begin_behind;
    EXIT WHEN closed.first > until;
    IF closed.first > begin_behind + 1 THEN
      up_to := closed.first - 1;
      EXIT;
    END IF;
    begin_behind := closed.last;
  END LOOP;
  SELECT s.events, s.deliveries, s.last, s.done
    INTO _replay_step_open.events, _replay_step_open.deliveries, _replay_step_open.last,
         _replay_step_open.done
    FROM hapax._replay_step(begin_behind, up_to, most, scan, dry, f_source, f_tenant, f_id, f_type,
                            f_order_key, f_status, f_since, f_until, as_new, to_only, accept, number,
                            most_deliveries, at) AS s;
  IF done AND up_to < until THEN
    last := up_to;
    done := false;
  END IF;
END
$$;

-- As before, of events whose day is not closed. The numbers themselves (= ANY) say which partitions to
-- open.
CREATE OR REPLACE FUNCTION hapax._note_duplicates(events bigint[], counts bigint[], changed bigint[],
                                                  digests bytea[], ats_us bigint[], bodies bytea[],
                                                  most bigint)
RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan AS $$
DECLARE
  w     record;
  known int;
BEGIN
  PERFORM hapax._be_durable();
  PERFORM hapax._keep_days_open();
  INSERT INTO hapax.duplicate AS d (event, count)
    SELECT n.event, sum(n.count) FROM unnest(events, counts) AS n (event, count)
     WHERE EXISTS (SELECT 1 FROM hapax.event AS e WHERE e.no = n.event AND e.no = ANY (events))
       AND NOT hapax._is_closed(n.event)
     GROUP BY n.event ORDER BY n.event
    ON CONFLICT (event) DO UPDATE SET count = d.count + excluded.count;
  FOR w IN
    SELECT n.* FROM unnest(events, changed, digests, ats_us, bodies) WITH ORDINALITY
             AS n (event, changed, digest, at_us, body, place)
      JOIN hapax.event AS e
        ON e.no = n.event AND e.no = ANY (events) AND e.digest <> n.digest
     WHERE n.changed = 1 AND NOT hapax._is_closed(n.event) ORDER BY n.event, n.place
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

-- The largest number of these that the store's own time has come to. (2024 is when numbers begin; a
-- store whose time is before that has no say.) A number of a node with a clock ahead says nothing of the
-- numbers below it.
CREATE FUNCTION hapax._plausible(nos bigint[], moment timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT max(w.no) FROM unnest(nos) AS w (no)
   WHERE w.no >> 22 <= greatest(86400000, extract(epoch FROM moment
                                                  - timestamptz '2024-01-01 00:00:00+00') * 1000)
$$;

UPDATE hapax.sweep SET floor = least(floor, (extract(epoch FROM clock_timestamp()
  - timestamptz '2024-01-01 00:00:00+00') * 1000)::bigint << 22);

-- As in 0006; but the floor is raised only to what is plausible.
CREATE OR REPLACE FUNCTION hapax._remove_events(nos bigint[], sources bigint[], keeps_ms bigint[],
                                                keeps_dead_ms bigint[], moment timestamptz)
RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
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
  UPDATE hapax.sweep AS s SET floor = p.no
    FROM (SELECT hapax._plausible(going, moment) AS no) AS p WHERE s.floor < p.no;
  RETURN cardinality(going);
END
$$;

-- As in 0006. What a hand has attached under a name of its own is left alone.
CREATE OR REPLACE FUNCTION hapax._days(parent regclass)
RETURNS TABLE (part regclass, day text, first bigint, last bigint)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT p.part, p.day, (p.n * 86400000) << 22,
         ((p.n * 86400000) << 22) + (86400000::bigint << 22) - 1
    FROM (SELECT i.inhrelid::regclass AS part, right(c.relname, 8) AS day,
                 (to_date(right(c.relname, 8), 'YYYYMMDD') - date '2024-01-01')::bigint AS n
            FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
           WHERE i.inhparent = parent AND c.relname ~ '^(event|attempt)_[0-9]{8}$') AS p
   ORDER BY p.n
$$;

-- Looks at the next `most` events of a day behind `after`: how many there were and the last of them,
-- how many may be removed now, when the first of the others may, and when the last may, as far as can
-- be told.
CREATE FUNCTION hapax._look_at_day(day bigint, after bigint, most bigint, sources bigint[],
                                   keeps_ms bigint[], keeps_dead_ms bigint[], moment timestamptz,
                                   OUT n bigint, OUT last bigint, OUT due bigint,
                                   OUT least_at timestamptz, OUT most_at timestamptz)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
BEGIN
  EXECUTE format($q$
    SELECT count(*), max(e.no), count(*) FILTER (WHERE g.at <= $1),
           coalesce(min(g.at) FILTER (WHERE g.at > $1), 'infinity'),
           coalesce(max(g.at), '-infinity')
      FROM (SELECT x.no, x.source, x.received_at FROM hapax.%I AS x WHERE x.no > $2
             ORDER BY x.no LIMIT $3) AS e
      LEFT JOIN LATERAL (
        SELECT u.keep_ms, u.keep_dead_ms
          FROM unnest($4, $5, $6) WITH ORDINALITY AS u (source, keep_ms, keep_dead_ms, place)
         WHERE u.source = e.source ORDER BY u.place LIMIT 1) AS p ON true
      CROSS JOIN LATERAL (
        SELECT coalesce(bool_or(q.state <= 1 OR q.blocks), false) AS holds,
               coalesce(bool_or(q.state = 2), false) AS dead, max(q.ended_at) AS ended_at
          FROM hapax.queue AS q WHERE q.event = e.no AND NOT q.listen) AS q
      CROSS JOIN LATERAL (
        SELECT max(a.settled_at) AS ended_at FROM hapax.%I AS a
         WHERE a.event = e.no AND a.outcome = 0 AND NOT a.listen) AS a
      CROSS JOIN LATERAL (
        SELECT CASE WHEN p.keep_ms IS NULL OR q.holds THEN timestamptz 'infinity'
                    ELSE greatest(e.received_at, q.ended_at, a.ended_at)
                         + CASE WHEN q.dead THEN p.keep_dead_ms ELSE p.keep_ms END
                           * interval '1 millisecond' END AS at) AS g
    $q$, hapax._part_of('event', day), hapax._part_of('attempt', day))
    INTO n, last, due, least_at, most_at
    USING moment, after, most, sources, keeps_ms, keeps_dead_ms;
END
$$;

-- From its commit on the events of the day are gone. The lock on the day's own partition waits for
-- those who are storing an event in it; it stops no reader. False: a lock was not to be had.
CREATE FUNCTION hapax._close_day(day bigint, moment timestamptz) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  usual text := current_setting('lock_timeout');
  part  text := hapax._part_of('event', day);
BEGIN
  PERFORM set_config('lock_timeout', '50ms', true);
  LOCK TABLE hapax.day IN EXCLUSIVE MODE;
  EXECUTE format('CREATE OR REPLACE TRIGGER closed BEFORE INSERT ON hapax.%I'
                 ' FOR EACH ROW EXECUTE FUNCTION hapax._refuse_closed()', part);
  UPDATE hapax.day AS d SET closed_at = moment WHERE d.n = day;
  EXECUTE format('UPDATE hapax.sweep AS s SET floor = m.no FROM (SELECT max(e.no) AS no FROM hapax.%I AS e)'
                 ' AS m WHERE s.floor < m.no', part);
  PERFORM set_config('lock_timeout', usual, true);
  RETURN true;
EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
  RETURN false;  -- and the locks are given back
END
$$;

-- Removes what is beside the events of a closed day with these numbers. False: some of it is needed.
CREATE FUNCTION hapax._strip_day(first bigint, last bigint, OUT removed bigint, OUT clean boolean)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
  n bigint;
BEGIN
  DELETE FROM hapax.queue AS q WHERE q.event BETWEEN first AND last
     AND (q.listen OR q.state > 1 AND NOT q.blocks);
  GET DIAGNOSTICS removed = ROW_COUNT;
  DELETE FROM hapax.variant AS v WHERE v.event BETWEEN first AND last;
  GET DIAGNOSTICS n = ROW_COUNT;
  removed := removed + n;
  DELETE FROM hapax.duplicate AS u WHERE u.event BETWEEN first AND last;
  GET DIAGNOSTICS n = ROW_COUNT;
  removed := removed + n;
  clean := NOT EXISTS (SELECT 1 FROM hapax.queue AS q WHERE q.event BETWEEN first AND last);
END
$$;

-- Drops a closed day, at once or not at all: ACCESS EXCLUSIVE stops everybody, and whoever waits for
-- it stops those who come later. The caller returns right after.
CREATE FUNCTION hapax._drop_closed_day(day bigint) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off AS $$
DECLARE
  part text := hapax._part_of('event', day);
BEGIN
  PERFORM set_config('lock_timeout', '50ms', true);
  LOCK TABLE ONLY hapax.event IN ACCESS EXCLUSIVE MODE;
  -- Nobody waits for us while we wait for one who has only this partition.
  EXECUTE format('LOCK TABLE hapax.%I IN ACCESS EXCLUSIVE MODE NOWAIT', part);
  IF NOT EXISTS (SELECT 1 FROM hapax.day AS d WHERE d.n = day AND d.closed_at IS NOT NULL) THEN
    RAISE EXCEPTION 'the day is open' USING ERRCODE = '55P03';
  END IF;
  -- Of a node of the version before, which knows no closed days: the next pass opens the day again.
  IF EXISTS (SELECT 1 FROM hapax.queue AS q
              WHERE q.event BETWEEN (day * 86400000) << 22 AND (((day + 1) * 86400000) << 22) - 1) THEN
    RAISE EXCEPTION 'deliveries of the day are left' USING ERRCODE = '55P03';
  END IF;
  EXECUTE format('DROP TABLE hapax.%I', part);
  DELETE FROM hapax.day AS d WHERE d.n = day;
  RETURN true;
EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
  RETURN false;
END
$$;

-- What becomes of a day that was looked at whole: `task` is what is next, 0 nothing.
CREATE FUNCTION hapax._decide_day(r hapax.retention, shortest_ms bigint, keep_attempts_ms bigint,
                                  moment timestamptz, OUT task smallint, OUT events bigint)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  is_closed boolean := hapax._is_closed((r.day * 86400000) << 22);
  -- Not the days that are being written, nor the next.
  is_past   boolean := timestamptz '2024-01-01 00:00:00+00' + (r.day + 1) * interval '1 day'
                       < least(moment, clock_timestamp()) - interval '1 day';
  goes      timestamptz;
BEGIN
  task := 0;
  events := 0;
  IF r.task = 1 AND is_closed THEN
    IF r.most_at <= moment THEN
      task := 3;
      events := r.seen;
      RETURN;
    END IF;
    UPDATE hapax.day AS d SET closed_at = NULL WHERE d.n = r.day;
    task := 2;
    RETURN;
  ELSIF r.task = 1 AND is_past AND r.most_at <= moment THEN
    -- Not to be had now: then the next pass, as it is.
    task := CASE WHEN hapax._close_day(r.day, moment) THEN 1 ELSE 0 END;
    RETURN;
  ELSIF r.task = 1 AND is_past AND r.seen > 10000 AND r.most_at <= moment + interval '1 day' THEN
    goes := r.most_at;  -- all of them at once then, and none by itself
  ELSIF r.task = 1 AND r.due > 0 THEN
    task := 2;
    RETURN;
  ELSE
    -- Whatever may happen to an event from the look on, it stays for the shortest period.
    goes := least(r.least_at, r.began_at + shortest_ms * interval '1 millisecond' - interval '1 minute');
    IF r.task = 2 AND r.due = r.seen THEN
      goes := moment;  -- nothing is left: it can be dropped
    ELSIF r.seen > 10000 THEN
      goes := greatest(goes, moment + r.seen * interval '1 millisecond');
    END IF;
  END IF;
  UPDATE hapax.day AS d
     SET goes_at = goes, looked_at = r.began_at,
         attempts_at = CASE WHEN r.task = 2 AND r.due > 0
                            THEN least(d.attempts_at, moment + keep_attempts_ms * interval '1 millisecond')
                            ELSE d.attempts_at END
   WHERE d.n = r.day;
END
$$;

-- The next day that may have something to remove, into `r`; its day is -1 when there is none.
CREATE FUNCTION hapax._next_day(r hapax.retention, marks bytea, moment timestamptz)
RETURNS hapax.retention
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  d hapax.day;
BEGIN
  IF r.day = -1 THEN
    INSERT INTO hapax.day (n)
      SELECT (x.first >> 22) / 86400000 FROM hapax._days('hapax.event') AS x ON CONFLICT DO NOTHING;
    DELETE FROM hapax.day AS x WHERE NOT hapax._is_partition('event', hapax._part_of('event', x.n));
  END IF;
  SELECT x.* INTO d FROM hapax.day AS x
   WHERE x.n > r.day
     AND CASE WHEN x.closed_at IS NOT NULL THEN r.rest_until <= moment
              ELSE x.goes_at <= moment OR x.looked_at > moment OR x.periods IS DISTINCT FROM marks END
   ORDER BY x.n LIMIT 1;
  r.day := coalesce(d.n, -1);
  r.task := CASE WHEN d.n IS NULL THEN 0 WHEN d.closed_at IS NOT NULL THEN 3 ELSE 1 END;
  IF d.n IS NOT NULL THEN
    UPDATE hapax.day AS x SET periods = marks WHERE x.n = d.n;
  END IF;
  RETURN r;
END
$$;

CREATE FUNCTION hapax._at_begin_of_day(r hapax.retention, moment timestamptz) RETURNS hapax.retention
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  r.event := ((r.day * 86400000) << 22) - 1;
  r.began_at := moment;
  r.seen := 0;
  r.due := 0;
  r.least_at := 'infinity';
  r.most_at := '-infinity';
  RETURN r;
END
$$;

-- A step through the events: one day after the other, as far as there can be something to remove.
CREATE FUNCTION hapax._retain_events(sources bigint[], keeps_ms bigint[], keeps_dead_ms bigint[],
                                     keep_attempts_ms bigint, most bigint, at timestamptz,
                                     OUT events bigint, OUT others bigint, OUT done boolean)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off AS $$
DECLARE
  moment   timestamptz := hapax._moment_ms(at);
  shortest bigint := (SELECT min(k) FROM unnest(keeps_ms || keeps_dead_ms) AS k);
  r        hapax.retention;
  look     record;
  is_clean boolean := true;
  n        bigint;
BEGIN
  PERFORM hapax._be_durable();
  events := 0;
  others := 0;
  done := shortest IS NULL;
  SELECT x.* INTO r FROM hapax.retention AS x WHERE x.part = 0 FOR UPDATE;
  IF done THEN
    RETURN;
  END IF;
  IF r.task > 0 AND NOT hapax._is_partition('event', hapax._part_of('event', r.day)) THEN
    r.task := 0;  -- an older node has dropped it
  END IF;
  IF r.task = 0 THEN
    r := hapax._next_day(r, sha256(convert_to(sources::text || keeps_ms::text || keeps_dead_ms::text,
                                              'UTF8')), moment);
    r := hapax._at_begin_of_day(r, moment);
    done := r.day = -1;
  END IF;
  IF r.task BETWEEN 1 AND 3 THEN
    SELECT x.* INTO look
      FROM hapax._look_at_day(r.day, r.event, most, sources, keeps_ms, keeps_dead_ms, moment) AS x;
    IF look.n < most THEN
      look.last := ((r.day + 1) * 86400000 << 22) - 1;
    END IF;
    n := look.due;
    IF r.task = 2 AND look.due > 0 THEN
      n := hapax._remove_events(
        ARRAY(SELECT e.no FROM hapax.event AS e WHERE e.no > r.event AND e.no <= look.last),
        sources, keeps_ms, keeps_dead_ms, moment);
      events := n;
    ELSIF r.task = 3 THEN
      SELECT x.removed, x.clean INTO others, is_clean FROM hapax._strip_day(r.event + 1, look.last) AS x;
    END IF;
    r.seen := r.seen + look.n;
    r.due := r.due + n;
    r.least_at := least(r.least_at, CASE WHEN n < look.due THEN moment ELSE look.least_at END);
    r.most_at := greatest(r.most_at, look.most_at);
    r.event := look.last;
    IF NOT is_clean THEN
      UPDATE hapax.day AS d SET closed_at = NULL WHERE d.n = r.day;
      r.task := 2;
      r := hapax._at_begin_of_day(r, moment);
    ELSIF look.n < most AND r.task = 3 THEN
      r.task := 4;
    ELSIF look.n < most THEN
      SELECT x.task, x.events INTO r.task, n
        FROM hapax._decide_day(r, shortest, keep_attempts_ms, moment) AS x;
      events := events + n;
      r := hapax._at_begin_of_day(r, moment);
    END IF;
  ELSIF r.task = 4 THEN
    IF NOT hapax._drop_closed_day(r.day) THEN
      r.rest_until := moment + interval '1 second';
    END IF;
    r.task := 0;
  END IF;
  UPDATE hapax.retention AS x
     SET task = r.task, day = r.day, event = r.event, seen = r.seen, due = r.due,
         least_at = r.least_at, most_at = r.most_at, began_at = r.began_at, rest_until = r.rest_until
   WHERE x.part = 0;
END
$$;

-- Drops the oldest day of attempts whose events' day is gone and whose rows have had their time.
CREATE FUNCTION hapax._drop_attempts_of_day(cut timestamptz, OUT found boolean, OUT dropped boolean)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off AS $$
DECLARE
  d      record;
  recent boolean;
BEGIN
  found := false;
  dropped := false;
  FOR d IN
    SELECT x.* FROM hapax._days('hapax.attempt') AS x
     WHERE NOT hapax._is_partition('event', hapax._part_of('event', (x.first >> 22) / 86400000))
     ORDER BY x.first
  LOOP
    EXECUTE format('SELECT EXISTS (SELECT 1 FROM %s WHERE settled_at > $1)', d.part) INTO recent USING cut;
    CONTINUE WHEN recent;
    found := true;
    PERFORM set_config('lock_timeout', '50ms', true);
    LOCK TABLE ONLY hapax.attempt IN ACCESS EXCLUSIVE MODE;
    EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE NOWAIT', d.part);
    -- Made again in between? Then it may be written.
    IF hapax._is_partition('event', hapax._part_of('event', (d.first >> 22) / 86400000)) THEN
      RAISE EXCEPTION 'the day is there again' USING ERRCODE = '55P03';
    END IF;
    EXECUTE format('DROP TABLE %s', d.part);
    dropped := true;
    RETURN;
  END LOOP;
EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
  NULL;  -- and the locks are given back
END
$$;

-- Of a day's attempts behind (event, delivery), `most` rows or so: removes those whose event is gone
-- and whose delivery was settled last before `cut`. How many there were, the last of them, how many
-- went, and whether some must go later.
CREATE FUNCTION hapax._remove_attempts_of_day(day bigint, after bigint, nth int, most bigint,
                                              cut timestamptz, OUT looked bigint, OUT event bigint,
                                              OUT delivery int, OUT removed bigint, OUT later boolean)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
BEGIN
  EXECUTE format($q$
    WITH looked AS MATERIALIZED (
      SELECT x.event, x.delivery, x.settled_at FROM hapax.%1$I AS x
       WHERE (x.event, x.delivery) > ($1, $2) ORDER BY x.event, x.delivery, x.fence LIMIT $3),
    alone AS MATERIALIZED (
      SELECT w.event, w.delivery,
             EXISTS (SELECT 1 FROM hapax.%1$I AS x WHERE x.event = w.event AND x.delivery = w.delivery
                        AND x.settled_at > $4) AS later
        FROM (SELECT DISTINCT l.event, l.delivery FROM looked AS l) AS w
       WHERE NOT EXISTS (SELECT 1 FROM hapax.%2$I AS e WHERE e.no = w.event)),
    gone AS (
      DELETE FROM hapax.%1$I AS a USING alone AS w
       WHERE a.event = w.event AND a.delivery = w.delivery AND NOT w.later RETURNING 1)
    SELECT (SELECT count(*) FROM looked), l.event, l.delivery, (SELECT count(*) FROM gone),
           coalesce((SELECT bool_or(w.later) FROM alone AS w), false)
      FROM (SELECT 1) AS one
      LEFT JOIN (SELECT x.event, x.delivery FROM looked AS x
                  ORDER BY x.event DESC, x.delivery DESC LIMIT 1) AS l ON true
    $q$, hapax._part_of('attempt', day), hapax._part_of('event', day))
    INTO looked, event, delivery, removed, later USING after, nth, most, cut;
END
$$;

-- A step through the attempts that were left behind by events that went one by one.
CREATE FUNCTION hapax._retain_attempts(keep_attempts_ms bigint, most bigint, at timestamptz,
                                       OUT others bigint, OUT done boolean)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp SET jit = off AS $$
DECLARE
  moment timestamptz := hapax._moment_ms(at);
  cut    timestamptz := moment - keep_attempts_ms * interval '1 millisecond';
  r      hapax.retention;
  d      record;
BEGIN
  PERFORM hapax._be_durable();
  others := 0;
  done := false;
  SELECT x.* INTO r FROM hapax.retention AS x WHERE x.part = 1 FOR UPDATE;
  IF r.day = -1 AND r.rest_until <= moment THEN
    SELECT x.* INTO d FROM hapax._drop_attempts_of_day(cut) AS x;
    IF d.dropped THEN
      others := 1;
      RETURN;
    ELSIF d.found THEN
      r.rest_until := moment + interval '1 second';
    END IF;
  END IF;
  IF r.task = 0 OR NOT (hapax._is_partition('event', hapax._part_of('event', r.day))
                        AND hapax._is_partition('attempt', hapax._part_of('attempt', r.day))) THEN
    SELECT x.n INTO r.day FROM hapax.day AS x
     WHERE x.attempts_at <= moment AND x.n > r.day
       AND hapax._is_partition('event', hapax._part_of('event', x.n))
       AND hapax._is_partition('attempt', hapax._part_of('attempt', x.n))
     ORDER BY x.n LIMIT 1;
    r.task := CASE WHEN r.day IS NULL THEN 0 ELSE 1 END;
    r.day := coalesce(r.day, -1);
    r.event := 0;
    r.delivery := 0;
    r.due := 0;
    done := r.task = 0;
  END IF;
  IF r.task = 1 THEN
    SELECT x.* INTO d
      FROM hapax._remove_attempts_of_day(r.day, r.event, r.delivery, most, cut) AS x;
    others := d.removed;
    r.due := r.due + d.later::int;
    r.event := coalesce(d.event, r.event);
    r.delivery := coalesce(d.delivery, r.delivery);
    IF d.looked < most THEN
      r.task := 0;
      UPDATE hapax.day AS x
         SET attempts_at = CASE WHEN r.due > 0 THEN moment + keep_attempts_ms * interval '1 millisecond'
                                ELSE 'infinity' END
       WHERE x.n = r.day;
    END IF;
  END IF;
  UPDATE hapax.retention AS x
     SET task = r.task, day = r.day, event = r.event, delivery = r.delivery, due = r.due,
         rest_until = r.rest_until
   WHERE x.part = 1;
END
$$;

-- Where a step through the pages of a table ends that begins at `place`, and whether that is its end.
-- An index of what is over costs every claim a page, and block ranges say little: once a range has held
-- a claim that is over, it always seems to.
CREATE FUNCTION hapax._pages_behind(place tid, relation regclass, OUT upto tid, OUT is_last boolean)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  page bigint := 128 + split_part(ltrim(place::text, '('), ',', 1)::bigint;
BEGIN
  is_last := page >= pg_relation_size(relation) / current_setting('block_size')::bigint;
  upto := format('(%s,0)', least(page, 4294967294))::tid;
END
$$;

-- A step through the claims that are over: those of events (part 2), which stay while their event is
-- there, or those of ids (part 4). At most `most` of them are looked at, whether they may go or not.
CREATE FUNCTION hapax._retain_claims(wanted_part bigint, most bigint, at timestamptz,
                                     OUT removed bigint, OUT done boolean)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  moment timestamptz := hapax._moment_ms(at);
  of_id  boolean := wanted_part = 4;
  r      hapax.retention;
  pages  record;
  picked tid[];
BEGIN
  PERFORM hapax._be_durable();
  removed := 0;
  done := false;
  SELECT x.* INTO r FROM hapax.retention AS x WHERE x.part = wanted_part FOR UPDATE;
  SELECT x.* INTO pages FROM hapax._pages_behind(r.place, 'hapax.claim') AS x;
  picked := ARRAY(SELECT c.ctid FROM hapax.claim AS c
                   WHERE c.ctid > r.place AND c.ctid < pages.upto
                     AND c.expires_at <= moment AND (c.event IS NULL) = of_id
                   ORDER BY c.ctid LIMIT most);
  IF cardinality(picked) > 0 THEN
    DELETE FROM hapax.claim WHERE ctid = ANY (ARRAY(
      SELECT c.ctid FROM hapax.claim AS c
       WHERE c.ctid = ANY (picked) AND c.expires_at <= moment AND (c.event IS NULL) = of_id
         AND (of_id OR NOT EXISTS (SELECT 1 FROM hapax.event AS e WHERE e.no = c.event))
         FOR UPDATE OF c SKIP LOCKED));
    GET DIAGNOSTICS removed = ROW_COUNT;
  END IF;
  done := pages.is_last AND cardinality(picked) < most;
  UPDATE hapax.retention AS x
     SET place = CASE WHEN done THEN '(0,0)'
                      WHEN cardinality(picked) = most THEN picked[most] ELSE pages.upto END
   WHERE x.part = wanted_part;
END
$$;

-- A step through the lanes that are empty and whose version has had its time.
CREATE FUNCTION hapax._retain_lanes(most bigint, at timestamptz, OUT removed bigint, OUT done boolean)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
DECLARE
  moment timestamptz := hapax._moment_ms(at);
  r      hapax.retention;
  pages  record;
  picked tid[];
BEGIN
  PERFORM hapax._be_durable();
  removed := 0;
  done := false;
  SELECT x.* INTO r FROM hapax.retention AS x WHERE x.part = 3 FOR UPDATE;
  SELECT x.* INTO pages FROM hapax._pages_behind(r.place, 'hapax.lane') AS x;
  picked := ARRAY(SELECT l.ctid FROM hapax.lane AS l
                   WHERE l.ctid > r.place AND l.ctid < pages.upto
                     AND l.head_event IS NULL AND (l.version IS NULL OR l.version_until <= moment)
                   ORDER BY l.ctid LIMIT most);
  DELETE FROM hapax.lane WHERE ctid = ANY (ARRAY(
    SELECT l.ctid FROM hapax.lane AS l
     WHERE l.ctid = ANY (picked)
       AND l.head_event IS NULL AND (l.version IS NULL OR l.version_until <= moment)
       FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS removed = ROW_COUNT;
  done := pages.is_last AND cardinality(picked) < most;
  UPDATE hapax.retention AS x
     SET place = CASE WHEN done THEN '(0,0)'
                      WHEN cardinality(picked) = most THEN picked[most] ELSE pages.upto END
   WHERE x.part = 3;
END
$$;
