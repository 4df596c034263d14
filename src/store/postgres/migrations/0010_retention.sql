-- Days of events are made ahead, and nothing waits for a lock that a stranger may hold.

-- One row for each day of events, numbered since 2024 as event numbers count.
CREATE TABLE hapax.day (n bigint PRIMARY KEY);

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
