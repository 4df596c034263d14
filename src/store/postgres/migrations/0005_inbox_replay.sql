-- Reading states, cancel and replay. Locks in this order: the event's row, lanes, rows of the queue.

-- The status of an event, as DeliveryState: the worst of its deliveries.
CREATE FUNCTION hapax._status(wanted bigint, moment timestamptz) RETURNS int
LANGUAGE sql STABLE SET search_path = pg_catalog AS $$
  SELECT CASE max(CASE WHEN q.state = 2 THEN 5
                       WHEN q.state = 0 AND q.holder_kind IS NOT NULL AND q.due_at > moment THEN 4
                       WHEN q.state <= 1 THEN 3 WHEN q.state = 3 THEN 2 WHEN q.state = 4 THEN 1
                       ELSE 0 END)
         WHEN 5 THEN 3 WHEN 4 THEN 1 WHEN 3 THEN 0 WHEN 2 THEN 5 WHEN 1 THEN 4 ELSE 2 END
    FROM hapax.queue AS q WHERE q.event = wanted
$$;

-- 1 gone, 2 absent, for an event whose row is not there.
CREATE FUNCTION hapax._missing(wanted bigint) RETURNS int
LANGUAGE sql STABLE SET search_path = pg_catalog AS $$
  SELECT CASE WHEN wanted <= s.floor THEN 1 ELSE 2 END FROM hapax.sweep AS s
$$;

-- Cancelled: 0 done, 1 not possible, 2 gone, 3 absent.
CREATE FUNCTION hapax._cancel(wanted bigint, nth bigint, superseded_max bigint, at timestamptz)
RETURNS int
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $$
DECLARE
  moment timestamptz := hapax._moment_ms(at);
  q      hapax.queue;
BEGIN
  PERFORM hapax._be_durable();
  PERFORM 1 FROM hapax.event AS e WHERE e.no = wanted FOR KEY SHARE;
  IF NOT FOUND THEN
    RETURN hapax._missing(wanted) + 1;
  END IF;
  PERFORM hapax._lock_lanes(ARRAY[wanted], ARRAY[nth]);
  SELECT r.* INTO q FROM hapax.queue AS r WHERE r.event = wanted AND r.delivery = nth FOR UPDATE;
  IF NOT FOUND THEN
    PERFORM 1 FROM hapax.attempt AS a WHERE a.event = wanted AND a.delivery = nth AND a.outcome = 0;
    RETURN CASE WHEN FOUND THEN 1 ELSE 3 END;
  END IF;
  IF q.state >= 3 THEN
    RETURN CASE WHEN q.state = 3 THEN 0 ELSE 1 END;
  END IF;
  UPDATE hapax.queue AS r
     SET state = 3, reason = 6, blocks = false, ended_at = moment, holder_kind = NULL, holder = NULL,
         fence = nextval('hapax.fence')
   WHERE r.event = wanted AND r.delivery = nth;
  PERFORM hapax._promote(ARRAY[l.destination], ARRAY[l.key], superseded_max, moment)
     FROM hapax.lane AS l
    WHERE l.destination = q.destination AND l.key = q.lane
      AND l.head_event = wanted AND l.head_delivery = nth;
  RETURN 0;
END
$$;

-- An ended delivery goes back to its old place.
CREATE FUNCTION hapax._reopen(q hapax.queue, accept boolean, number bigint, moment timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $$
DECLARE
  idle boolean := true;
BEGIN
  IF q.lane IS NOT NULL AND NOT q.blocks THEN
    -- Retention may have removed a lane that was empty.
    INSERT INTO hapax.lane (destination, key, remember_ms) VALUES (q.destination, q.lane, 0)
      ON CONFLICT DO NOTHING;
    SELECT l.head_event IS NULL INTO STRICT idle FROM hapax.lane AS l
     WHERE l.destination = q.destination AND l.key = q.lane FOR UPDATE;
  END IF;
  UPDATE hapax.queue AS r
     SET state = CASE WHEN idle THEN 0 ELSE 1 END, due_at = moment, fence = nextval('hapax.fence'),
         attempts = 0, abandons = 0, guard = 2, replay = number, reason = 0, blocks = false,
         ended_at = NULL, first_sent_at = CASE WHEN accept THEN NULL ELSE r.first_sent_at END
   WHERE r.event = q.event AND r.delivery = q.delivery;
  IF q.lane IS NULL THEN
    RETURN;
  END IF;
  UPDATE hapax.lane AS l SET head_event = q.event, head_delivery = q.delivery
   WHERE l.destination = q.destination AND l.key = q.lane AND l.head_event IS NULL;
  PERFORM hapax._reconsider(ARRAY[q.destination], ARRAY[q.lane], moment);
END
$$;

-- Replayed::Status: 0 done, 1 not replayable, 2 past its horizon, 3 too many, 4 gone, 5 absent.
CREATE FUNCTION hapax._replay_same(wanted bigint, nth bigint, to_only bigint, accept boolean,
                                   number bigint, moment timestamptz,
                                   OUT status int, OUT deliveries bigint[])
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $$
DECLARE
  q hapax.queue;
BEGIN
  status := 1;
  deliveries := '{}';
  FOR q IN
    SELECT r.* FROM hapax.queue AS r
     WHERE r.event = wanted AND (nth IS NULL OR r.delivery = nth)
       AND (to_only IS NULL OR r.destination = to_only)
     ORDER BY r.delivery FOR UPDATE
  LOOP
    IF number = 0 OR q.replay <> number OR q.state = 5 THEN
      CONTINUE WHEN q.state NOT IN (2, 3, 4);
      IF q.reason = 4 AND NOT accept THEN
        status := 2;
        CONTINUE;
      END IF;
      PERFORM hapax._reopen(q, accept, number, moment);
    END IF;
    deliveries := deliveries || q.delivery::bigint;
  END LOOP;
  IF cardinality(deliveries) > 0 THEN
    status := 0;
  END IF;
END
$$;

-- Every delivery that the event has had: those of the queue, and the completed ones.
CREATE FUNCTION hapax._deliveries(wanted bigint)
RETURNS TABLE (delivery int, destination int, listen boolean, state smallint, replay_of int,
               replay bigint)
LANGUAGE sql STABLE SET search_path = pg_catalog AS $$
  SELECT q.delivery, q.destination, q.listen, q.state, q.replay_of, q.replay
    FROM hapax.queue AS q WHERE q.event = wanted
  UNION ALL
  SELECT a.delivery, a.destination, a.listen, 5::smallint, NULL, 0
    FROM hapax.attempt AS a
   WHERE a.event = wanted AND a.outcome = 0
     AND NOT EXISTS (SELECT 1 FROM hapax.queue AS q WHERE q.event = wanted AND q.delivery = a.delivery)
$$;

-- New deliveries: of each destination's last one, unless this replay has made it already.
CREATE FUNCTION hapax._replay_as_new(wanted bigint, nth bigint, to_only bigint, number bigint,
                                     most bigint, moment timestamptz,
                                     OUT status int, OUT deliveries bigint[])
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $$
DECLARE
  used   bigint;
  old    record;
  wished record;
BEGIN
  SELECT coalesce(max(d.delivery), 0) INTO used FROM hapax._deliveries(wanted) AS d;
  SELECT coalesce(array_agg(l.made::bigint) FILTER (WHERE l.made IS NOT NULL), '{}') AS made,
         coalesce(array_agg(l.delivery ORDER BY l.delivery)
                    FILTER (WHERE l.made IS NULL AND l.state >= 2), '{}') AS new
    INTO wished
    FROM (SELECT DISTINCT ON (d.destination) d.*,
                 (SELECT max(m.delivery) FROM hapax._deliveries(wanted) AS m
                   WHERE m.destination = d.destination AND m.replay_of IS NOT NULL
                     AND number <> 0 AND m.replay = number) AS made
            FROM hapax._deliveries(wanted) AS d
           WHERE (nth IS NULL OR d.delivery = nth) AND (to_only IS NULL OR d.destination = to_only)
           ORDER BY d.destination, d.delivery DESC) AS l;
  deliveries := '{}';
  IF used + cardinality(wished.new) > most THEN
    status := 3;
    RETURN;
  END IF;
  deliveries := wished.made;
  FOR old IN
    SELECT d.* FROM hapax._deliveries(wanted) AS d WHERE d.delivery = ANY (wished.new)
     ORDER BY d.delivery
  LOOP
    used := used + 1;
    INSERT INTO hapax.queue (event, delivery, destination, listen, state, due_at, fence, guard,
                             replay_of, replay)
      VALUES (wanted, used, old.destination, old.listen, 0, moment, nextval('hapax.fence'), 2,
              old.delivery, number);
    deliveries := deliveries || used;
  END LOOP;
  deliveries := ARRAY(SELECT d FROM unnest(deliveries) AS d ORDER BY d);
  status := CASE WHEN cardinality(deliveries) > 0 THEN 0 ELSE 1 END;
END
$$;

CREATE FUNCTION hapax._replay(wanted bigint, nth bigint, as_new boolean, to_only bigint, accept boolean,
                              number bigint, most bigint, at timestamptz,
                              OUT status int, OUT deliveries bigint[])
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $$
DECLARE
  moment timestamptz := hapax._moment_ms(at);
BEGIN
  PERFORM hapax._be_durable();
  deliveries := '{}';
  PERFORM 1 FROM hapax.event AS e WHERE e.no = wanted FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    status := hapax._missing(wanted) + 3;
  ELSIF nth IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM hapax._deliveries(wanted) AS d WHERE d.delivery = nth) THEN
    status := 5;
  ELSIF as_new THEN
    SELECT r.* INTO status, deliveries
      FROM hapax._replay_as_new(wanted, nth, to_only, number, most, moment) AS r;
  ELSE
    PERFORM hapax._lock_lanes(array_agg(q.event), array_agg(q.delivery::bigint))
       FROM hapax.queue AS q WHERE q.event = wanted;
    SELECT r.* INTO status, deliveries
      FROM hapax._replay_same(wanted, nth, to_only, accept, number, moment) AS r;
  END IF;
END
$$;

-- A step of a replay of many: `most` of those that match among the next `scan` events. NULL in a
-- filter: anything.
CREATE FUNCTION hapax._replay_step(
  after bigint, until bigint, most bigint, scan bigint, dry boolean,
  f_source bigint, f_tenant bytea, f_id bytea, f_type bytea, f_order_key bytea, f_status bigint,
  f_since timestamptz, f_until timestamptz,
  as_new boolean, to_only bigint, accept boolean, number bigint, most_deliveries bigint,
  at timestamptz,
  OUT events bigint, OUT deliveries bigint, OUT last bigint, OUT done boolean)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $$
DECLARE
  moment timestamptz := hapax._moment_ms(at);
  found  bigint[];
  looked bigint[];  -- how many, and the last of them
BEGIN
  WITH next AS MATERIALIZED (
    SELECT e.no, e.source, e.tenant, e.id, e.type, e.order_key, e.received_at
      FROM hapax.event AS e WHERE e.no > after AND e.no <= until ORDER BY e.no LIMIT scan)
  SELECT ARRAY(
           SELECT e.no FROM next AS e
            WHERE (f_source IS NULL OR e.source = f_source)
              AND (f_tenant IS NULL OR e.tenant = f_tenant)
              AND (f_id IS NULL OR e.id = f_id) AND (f_type IS NULL OR e.type = f_type)
              AND (f_order_key IS NULL OR e.order_key = f_order_key)
              AND (f_since IS NULL OR e.received_at >= f_since)
              AND (f_until IS NULL OR e.received_at < f_until)
              AND (f_status IS NULL OR hapax._status(e.no, moment) = f_status)
            ORDER BY e.no LIMIT most + 1),
         ARRAY[count(*), max(n.no)]
    INTO found, looked FROM next AS n;
  done := looked[1] < scan AND cardinality(found) <= most;
  last := CASE WHEN cardinality(found) > most THEN found[most]
               WHEN done THEN coalesce(found[cardinality(found)], after)
               ELSE looked[2] END;
  found := found[1:most];
  events := cardinality(found);
  deliveries := 0;
  IF dry OR events = 0 THEN
    RETURN;
  END IF;
  -- All locks in their order before the first change.
  PERFORM 1 FROM hapax.event AS e WHERE e.no = ANY (found) ORDER BY e.no FOR NO KEY UPDATE;
  PERFORM hapax._lock_lanes(array_agg(q.event), array_agg(q.delivery::bigint))
     FROM hapax.queue AS q WHERE q.event = ANY (found);
  SELECT coalesce(sum(cardinality(r.deliveries)), 0) INTO deliveries
    FROM unnest(found) AS w (no)
    CROSS JOIN LATERAL hapax._replay(w.no, NULL, as_new, to_only, accept, number, most_deliveries, at) AS r;
END
$$;
