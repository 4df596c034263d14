-- Partitions that several sessions make at once, days that are dropped late, and leases whose answer was
-- lost more than once. No function is dropped or changes its signature.

-- ---- Days that are made ----

-- Whether every session can insert into that partition. A commit makes its catalogue rows visible a moment
-- before it invalidates what other sessions have cached of the parent, and an INSERT in that moment finds
-- no partition. The session that creates it holds ACCESS EXCLUSIVE on it until then: this waits for that.
CREATE FUNCTION hapax._has_partition(parent text, part text) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF NOT hapax._is_partition(parent, part) THEN
    RETURN false;
  END IF;
  EXECUTE format('LOCK TABLE hapax.%I IN ACCESS SHARE MODE', part);
  RETURN true;
EXCEPTION WHEN undefined_table THEN  -- it was being dropped
  RETURN false;
END
$$;

-- As in 0010, but one session at a time: of two that create the same table, one may fail at any row of the
-- catalogue, and two that create several can deadlock. The lock is the one that ATTACH needs anyway, taken
-- before anything is created. It is on both parents, because a day's attempts may be dropped as long as its
-- partition of events cannot be seen.
CREATE OR REPLACE FUNCTION hapax._need_days(days bigint[]) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  missing bigint[] := ARRAY(
    SELECT DISTINCT d.d FROM unnest(days) AS d (d)
     WHERE NOT (hapax._has_partition('attempt', hapax._part_of('attempt', d.d))
                AND hapax._has_partition('event', hapax._part_of('event', d.d))));
  day     bigint;
  parent  text;
  part    text;
BEGIN
  IF cardinality(missing) = 0 THEN
    RETURN;
  END IF;
  LOCK TABLE ONLY hapax.attempt, ONLY hapax.event IN SHARE UPDATE EXCLUSIVE MODE;
  FOR day, parent IN
    SELECT d.d, p.p FROM unnest(missing) AS d (d), unnest(ARRAY['attempt', 'event']) AS p (p)
     ORDER BY 1, 2
  LOOP
    part := hapax._part_of(parent, day);
    CONTINUE WHEN hapax._is_partition(parent, part);
    IF to_regclass(format('hapax.%I', part)) IS NOT NULL THEN
      RAISE EXCEPTION 'the table hapax.% is no partition of hapax.%; attach it, or give it another name',
                      part, parent USING ERRCODE = '42P07';
    END IF;
    EXECUTE format('CREATE TABLE hapax.%I (LIKE hapax.%I INCLUDING ALL)', part, parent);
    EXECUTE format('ALTER TABLE hapax.%I ATTACH PARTITION hapax.%I FOR VALUES FROM (%s) TO (%s)',
                   parent, part, (day * 86400000) << 22,
                   CASE WHEN day >= 25451 THEN 'MAXVALUE' ELSE (((day + 1) * 86400000) << 22)::text END);
    IF parent = 'event' THEN
      DELETE FROM hapax.day AS x WHERE x.n = day;  -- of one that was dropped behind our back
      INSERT INTO hapax.day (n) VALUES (day);
    END IF;
  END LOOP;
END
$$;

-- For older nodes: by the same lock.
CREATE OR REPLACE FUNCTION hapax._make_days(days bigint[]) RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
  SELECT hapax._need_days(days)
$$;

-- For older nodes: this function checks again under the lock whether the day has events.
CREATE OR REPLACE FUNCTION hapax._drop_attempt_day(cut timestamptz) RETURNS boolean
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp SET lock_timeout = '50ms' AS $$
  SELECT d.dropped FROM hapax._drop_attempts_of_day(cut) AS d
$$;

-- ---- Days that are removed ----

-- stripped: only the DROP is left to do. It fails as long as a reader holds a lock on the table.
ALTER TABLE hapax.day ADD COLUMN stripped boolean NOT NULL DEFAULT false;

-- Before 0010 nothing recorded which days have attempts of removed events. Each day is read once: those
-- with a row here, and those that hapax._next_day adds.
UPDATE hapax.day SET attempts_at = '-infinity';

CREATE OR REPLACE FUNCTION hapax._next_day(r hapax.retention, marks bytea, moment timestamptz)
RETURNS hapax.retention
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  d hapax.day;
BEGIN
  IF r.day = -1 THEN
    INSERT INTO hapax.day (n, attempts_at)
      SELECT (x.first >> 22) / 86400000, '-infinity' FROM hapax._days('hapax.event') AS x
      ON CONFLICT DO NOTHING;
    DELETE FROM hapax.day AS x WHERE NOT hapax._is_partition('event', hapax._part_of('event', x.n));
  END IF;
  SELECT x.* INTO d FROM hapax.day AS x
   WHERE x.n > r.day
     AND CASE WHEN x.closed_at IS NOT NULL THEN r.rest_until <= moment
              ELSE x.goes_at <= moment OR x.looked_at > moment OR x.periods IS DISTINCT FROM marks END
   ORDER BY x.n LIMIT 1;
  r.day := coalesce(d.n, -1);
  r.task := CASE WHEN d.n IS NULL THEN 0 WHEN d.closed_at IS NULL THEN 1 WHEN d.stripped THEN 4 ELSE 3 END;
  IF d.n IS NOT NULL THEN
    UPDATE hapax.day AS x SET periods = marks WHERE x.n = d.n;
  END IF;
  RETURN r;
END
$$;

-- As in 0010; a failed attempt records whether the next pass has to do more than the DROP.
CREATE OR REPLACE FUNCTION hapax._drop_closed_day(day bigint) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off AS $$
DECLARE
  part    text := hapax._part_of('event', day);
  is_bare boolean := true;
BEGIN
  PERFORM set_config('lock_timeout', '50ms', true);
  LOCK TABLE ONLY hapax.event IN ACCESS EXCLUSIVE MODE;
  -- Nobody waits for us while we wait for one who has only this partition.
  EXECUTE format('LOCK TABLE hapax.%I IN ACCESS EXCLUSIVE MODE NOWAIT', part);
  -- A day that was opened, and deliveries of a node of a version before, which knows no closed days.
  is_bare := EXISTS (SELECT 1 FROM hapax.day AS d WHERE d.n = day AND d.closed_at IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM hapax.queue AS q
                     WHERE q.event BETWEEN (day * 86400000) << 22 AND (((day + 1) * 86400000) << 22) - 1);
  IF NOT is_bare THEN
    RAISE EXCEPTION 'something of the day is needed' USING ERRCODE = '55P03';
  END IF;
  EXECUTE format('DROP TABLE hapax.%I', part);
  DELETE FROM hapax.day AS d WHERE d.n = day;
  RETURN true;
EXCEPTION WHEN lock_not_available OR deadlock_detected THEN  -- and the locks are given back
  UPDATE hapax.day AS d SET stripped = is_bare WHERE d.n = day AND d.stripped <> is_bare;
  RETURN false;
END
$$;

-- As in 0010. Above read committed the snapshot may be older than the commit that closed the day: FOR SHARE
-- of a row that was changed since is 40001, and so is a row that the snapshot does not have. Only days that
-- were closed have this trigger, so an event of today costs nothing.
CREATE OR REPLACE FUNCTION hapax._refuse_closed() RETURNS trigger
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    PERFORM 1 FROM hapax.day AS d WHERE d.n = (NEW.no >> 22) / 86400000 FOR SHARE;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the day of this event was changed' USING ERRCODE = '40001';
    END IF;
  END IF;
  IF hapax._is_closed(NEW.no) THEN
    RAISE EXCEPTION 'the events of this day are being removed' USING ERRCODE = '23514';
  END IF;
  RETURN NEW;
END
$$;

-- ---- Leases ----

-- The last 8 bits of a lease request's token count the answers that were lost before. A repeat frees
-- what the ones before it have leased, and never what a later one has, which a worker may have seen: a
-- request can arrive after a later one was answered. An older node repeats with the same token. Nothing else
-- in the function changes.
DO $do$
DECLARE
  before  text := pg_get_functiondef('hapax._lease_once'::regproc);
  patched text := replace(replace(before,
    'pg_advisory_xact_lock(token)', 'pg_advisory_xact_lock(token & -256)'),
    'q.lease_token = token', 'q.lease_token BETWEEN token & -256 AND token');
BEGIN
  ASSERT length(patched) = length(before) + length(' & -256') + length('BETWEEN token & -256 AND token')
                           - length('= token');
  EXECUTE patched;
END
$do$;

-- ---- Records ----

-- As in 0008. The lock is on the table, because any role that can connect can take an advisory lock.
CREATE OR REPLACE FUNCTION hapax._put_record(wanted bytea, after bigint, before bigint, text bytea,
                                             most bigint)
RETURNS int
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  now bigint;
BEGIN
  PERFORM hapax._be_durable();
  LOCK TABLE hapax.record IN SHARE ROW EXCLUSIVE MODE;
  SELECT r.version INTO now FROM hapax.record AS r WHERE r.name = wanted;
  now := coalesce(now, 0);
  IF now = after THEN
    RETURN 1;
  ELSIF now <> before THEN
    RETURN 0;
  ELSIF now = 0 AND (SELECT count(*) FROM hapax.record) >= most THEN
    RETURN 2;
  END IF;
  INSERT INTO hapax.record AS r (name, version, content) VALUES (wanted, after, text)
    ON CONFLICT (name) DO UPDATE SET version = excluded.version, content = excluded.content;
  RETURN 1;
END
$$;

CREATE OR REPLACE FUNCTION hapax._remove_record(wanted bytea, number bigint) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM hapax._be_durable();
  LOCK TABLE hapax.record IN SHARE ROW EXCLUSIVE MODE;
  DELETE FROM hapax.record AS r WHERE r.name = wanted AND r.version = number;
  RETURN NOT EXISTS (SELECT 1 FROM hapax.record AS r WHERE r.name = wanted);
END
$$;
