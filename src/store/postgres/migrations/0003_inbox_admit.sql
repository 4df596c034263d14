-- Requests become events with deliveries.

-- Claims every key that is free, or over and without work left, each for the first place that names
-- it. Empty keys claim nothing. Returns the numbers that hold a claim because of this call. As
-- hapax._claim: sorted, and what was found taken is read by a new statement; only what was locked in
-- the order of the keys is changed, and who lost one of several starts over. By the index of the keys
-- alone: that of the times knows ranges of pages, and would read them all.
CREATE FUNCTION hapax._claim_events(nos bigint[], keys bytea[], remembers_ms bigint[],
                                    moment timestamptz)
RETURNS bigint[]
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog
SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  mine   bigint[] := '{}';
  more   bigint[];
  locked bytea[];
  again  boolean;
BEGIN
  FOR attempt IN 1..100 LOOP
    WITH made AS (
      INSERT INTO hapax.claim AS c (key, event, expires_at)
        SELECT DISTINCT ON (w.key)
               w.key, w.no, moment + w.remember_ms * interval '1 millisecond'
          FROM unnest(keys, nos, remembers_ms) WITH ORDINALITY AS w (key, no, remember_ms, place)
         WHERE w.key <> '' ORDER BY w.key, w.place
        ON CONFLICT DO NOTHING
        RETURNING c.event)
    SELECT array_agg(made.event) INTO more FROM made;
    mine := mine || more;
    EXIT WHEN cardinality(mine) = cardinality(keys);

    locked := ARRAY(SELECT c.key FROM hapax.claim AS c
                     WHERE c.key = ANY (keys) AND c.expires_at <= moment ORDER BY c.key FOR UPDATE);
    IF cardinality(locked) > 0 THEN
      WITH taken AS (
        UPDATE hapax.claim AS c
           SET event = w.no, expires_at = moment + w.remember_ms * interval '1 millisecond'
          FROM (SELECT DISTINCT ON (u.key) u.*
                  FROM unnest(keys, nos, remembers_ms) WITH ORDINALITY AS u (key, no, remember_ms, place)
                 WHERE u.key = ANY (locked) ORDER BY u.key, u.place) AS w
         WHERE c.key = w.key AND c.expires_at <= moment AND c.event <> w.no
           AND NOT EXISTS (SELECT 1 FROM hapax.queue AS q WHERE q.event = c.event
                              AND NOT q.listen AND (q.state <= 1 OR q.blocks))
        RETURNING c.event)
      SELECT array_agg(taken.event) INTO more FROM taken;
      mine := mine || more;
    END IF;

    -- One that was over and in nobody's way may be removed before it is read: then it is free. With
    -- others in our hands we must not go back for it, or we wait in a circle: hapax._not_fresh says
    -- so in the end.
    EXIT WHEN cardinality(keys) > 1;
    SELECT EXISTS (SELECT 1 FROM unnest(keys) AS w (key) WHERE w.key <> ''
                      AND NOT EXISTS (SELECT 1 FROM hapax.claim AS c WHERE c.key = w.key)) INTO again;
    EXIT WHEN NOT again;
  END LOOP;
  RETURN mine;
END
$$;

-- The deliveries of new events, where some are in lanes. Lanes are locked in their order, and places
-- drawn after that, in the order of the arrays: so the order of arrival is that of commit. ready:
-- which places of the request are stored; NULL: all.
CREATE FUNCTION hapax._enter_lanes(ready boolean[], places bigint[], events bigint[],
                                   deliveries bigint[], destinations bigint[], listens bigint[],
                                   guards bigint[], lanes bytea[], versions bigint[],
                                   remembers_ms bigint[], moment timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  wanted_to   int[];
  wanted_lane bytea[];
  locked      bigint;
BEGIN
  SELECT array_agg(s.destination), array_agg(s.lane) INTO wanted_to, wanted_lane
    FROM (SELECT DISTINCT t.destination::int, t.lane
            FROM unnest(places, destinations, lanes) AS t (place, destination, lane)
           WHERE t.lane <> '' AND coalesce(ready[t.place], true) ORDER BY 1, 2) AS s;
  FOR attempt IN 1..100 LOOP
    INSERT INTO hapax.lane (destination, key, remember_ms)
      SELECT w.destination, w.key, 0 FROM unnest(wanted_to, wanted_lane) AS w (destination, key)
      ON CONFLICT DO NOTHING;
    PERFORM 1 FROM unnest(wanted_to, wanted_lane) AS w (destination, key)
      JOIN hapax.lane AS l ON l.destination = w.destination AND l.key = w.key
      ORDER BY w.destination, w.key FOR UPDATE OF l;
    GET DIAGNOSTICS locked = ROW_COUNT;
    -- Retention may remove one in between. To go back for it with others in our hands would be to
    -- wait in a circle.
    EXIT WHEN locked = coalesce(cardinality(wanted_to), 0);
    IF cardinality(wanted_to) > 1 OR attempt = 100 THEN
      RAISE EXCEPTION 'a lane ended before it was locked' USING ERRCODE = '40001';
    END IF;
  END LOOP;

  WITH w AS (
    SELECT t.destination, t.lane,
           (array_agg(t.event ORDER BY t.place))[1] AS event,
           (array_agg(t.delivery ORDER BY t.place))[1] AS delivery,
           (array_agg(t.remember_ms ORDER BY t.place DESC))[1] AS remember_ms
      FROM unnest(places, events, deliveries, destinations, lanes, remembers_ms)
             AS t (place, event, delivery, destination, lane, remember_ms)
     WHERE t.lane <> '' AND coalesce(ready[t.place], true)
     GROUP BY t.destination, t.lane)
  UPDATE hapax.lane AS l
     SET head_event = coalesce(l.head_event, w.event),
         head_delivery = coalesce(l.head_delivery, w.delivery), remember_ms = w.remember_ms
    FROM w
   WHERE l.destination = w.destination AND l.key = w.lane
     AND (l.head_event IS NULL OR l.remember_ms <> w.remember_ms);

  INSERT INTO hapax.queue (event, delivery, destination, listen, state, due_at, fence, guard, lane,
                           lane_seq, version)
    SELECT s.event, s.delivery, s.destination, s.listen = 1, s.state, moment,
           nextval('hapax.fence'), s.guard, s.lane,
           CASE WHEN s.lane IS NOT NULL THEN nextval('hapax.fence') END, s.version
      FROM (SELECT t.*, l.key AS lane,
                   CASE WHEN l.key IS NULL
                          OR (l.head_event = t.event AND l.head_delivery = t.delivery)
                        THEN 0 ELSE 1 END AS state
              FROM unnest(places, events, deliveries, destinations, listens, guards, lanes, versions)
                     AS t (place, event, delivery, destination, listen, guard, lane_key, version)
              LEFT JOIN hapax.lane AS l ON l.destination = t.destination AND l.key = t.lane_key
             WHERE coalesce(ready[t.place], true)
             ORDER BY t.place, t.delivery) AS s;
END
$$;

-- Admits a batch: a place in the first arrays for each arrival, in the t_ arrays one for each target,
-- all in order. An empty key claims nothing, an empty lane is none. Returns the places that are not
-- fresh, with the event that has the id; nothing of those is stored. An event number that is
-- another's raises 23505, a day without a partition 23514.
CREATE FUNCTION hapax._admit(
  nos bigint[], keys bytea[], sources bigint[], tenants bytea[], ids bytea[], types bytea[],
  order_keys bytea[], versions bigint[], digests bytea[], headers bytea[], bodies bytea[],
  remembers_ms bigint[], woulds bigint[],
  t_places bigint[], t_events bigint[], t_deliveries bigint[], t_destinations bigint[],
  t_listens bigint[], t_guards bigint[], t_lanes bytea[], t_versions bigint[],
  t_remembers_ms bigint[], at timestamptz)
RETURNS TABLE (place bigint, event bigint, changed boolean)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $$
#variable_conflict use_column
DECLARE
  moment timestamptz := hapax._moment_ms(at);
  mine   bigint[];
  ready  boolean[];  -- NULL: all
BEGIN
  PERFORM hapax._be_durable();
  mine := hapax._claim_events(nos, keys, remembers_ms, moment);
  IF cardinality(mine) < cardinality(nos) THEN
    ready := hapax._to_store(nos, keys, sources, tenants, ids, digests, woulds, mine);
  END IF;

  INSERT INTO hapax.event (no, source, would, received_at, version, tenant, id, type, order_key,
                           digest, headers, body)
    SELECT w.no, w.source, w.would, moment, w.version, w.tenant, w.id, w.type, w.order_key,
           w.digest, w.headers, w.body
      FROM unnest(nos, sources, woulds, versions, tenants, ids, types, order_keys, digests, headers,
                  bodies) WITH ORDINALITY
             AS w (no, source, would, version, tenant, id, type, order_key, digest, headers, body, place)
     WHERE coalesce(ready[w.place], true);

  IF EXISTS (SELECT 1 FROM unnest(t_lanes) AS t (lane) WHERE t.lane <> '') THEN
    PERFORM hapax._enter_lanes(ready, t_places, t_events, t_deliveries, t_destinations, t_listens,
                               t_guards, t_lanes, t_versions, t_remembers_ms, moment);
  ELSE
    INSERT INTO hapax.queue (event, delivery, destination, listen, state, due_at, fence, guard)
      SELECT t.event, t.delivery, t.destination, t.listen = 1, 0, moment, nextval('hapax.fence'),
             t.guard
        FROM unnest(t_places, t_events, t_deliveries, t_destinations, t_listens, t_guards)
               AS t (place, event, delivery, destination, listen, guard)
       WHERE coalesce(ready[t.place], true);
  END IF;

  -- Last, because others may wait for this row: once in a second.
  INSERT INTO hapax.seen AS s (source, at)
    SELECT w.source, moment
      FROM (SELECT DISTINCT u.source FROM unnest(sources) WITH ORDINALITY AS u (source, place)
             WHERE coalesce(ready[u.place], true)) AS w
     WHERE NOT EXISTS (SELECT 1 FROM hapax.seen AS x
                        WHERE x.source = w.source AND x.at > moment - interval '1 second')
     ORDER BY w.source
    ON CONFLICT (source) DO UPDATE SET at = excluded.at WHERE s.at < excluded.at;

  IF ready IS NOT NULL THEN
    RETURN QUERY SELECT * FROM hapax._not_fresh(nos, keys, digests);
  END IF;
END
$$;

-- Which places are to be stored: those that claimed, and those without a claim that are not there
-- yet, from the same call before.
CREATE FUNCTION hapax._to_store(nos bigint[], keys bytea[], sources bigint[], tenants bytea[],
                                ids bytea[], digests bytea[], woulds bigint[], mine bigint[])
RETURNS boolean[]
LANGUAGE sql VOLATILE SET search_path = pg_catalog AS $$
  SELECT array_agg(
           CASE WHEN w.key <> '' THEN m.no IS NOT NULL
                ELSE NOT EXISTS (SELECT 1 FROM hapax.event AS e
                                  WHERE e.no = w.no AND e.source = w.source AND e.tenant = w.tenant
                                    AND e.id = w.id AND e.digest = w.digest AND e.would = w.would)
           END ORDER BY w.place)
    FROM unnest(nos, keys, sources, tenants, ids, digests, woulds) WITH ORDINALITY
           AS w (no, key, source, tenant, id, digest, would, place)
    LEFT JOIN unnest(mine) AS m (no) ON m.no = w.no
$$;

-- What stands where a claim was, when it is gone.
CREATE FUNCTION hapax._ended() RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $$
BEGIN
  RAISE EXCEPTION 'a claim ended while it was read' USING ERRCODE = '40001';
END
$$;

-- The places whose id another event has. With synchronous standbys a claim can be visible here and
-- not there yet; a commit of our own that writes WAL waits for everything before it.
CREATE FUNCTION hapax._not_fresh(nos bigint[], keys bytea[], digests bytea[])
RETURNS TABLE (place bigint, event bigint, changed boolean)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog
SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
BEGIN
  IF current_setting('synchronous_standby_names') <> '' THEN
    PERFORM pg_logical_emit_message(true, 'hapax', '');
  END IF;
  RETURN QUERY
    SELECT w.place, coalesce(c.event, hapax._ended()), coalesce(e.digest <> w.digest, false)
      FROM unnest(nos, keys, digests) WITH ORDINALITY AS w (no, key, digest, place)
      LEFT JOIN hapax.claim AS c ON c.key = w.key
      LEFT JOIN hapax.event AS e ON e.no = c.event
     WHERE w.key <> '' AND c.event IS DISTINCT FROM w.no;
END
$$;

-- base/claim_key.hpp, for the lane of a source without tenants.
CREATE FUNCTION hapax._lane_key(source int, order_key bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog AS $$
  SELECT CASE WHEN length(p.plain) > 200 THEN '\xec'::bytea || sha256(p.plain) ELSE p.plain END
    FROM (SELECT '\x6c0004'::bytea || int4send(source) || order_key AS plain) AS p
$$;

-- Moves committed messages, one for each number at most, into the queue. They are found by being
-- there, whatever order they were committed in. The same call may have been committed before: then
-- the numbers that are there are its answer.
CREATE FUNCTION hapax._move_messages(numbers bigint[], remember_ms bigint, at timestamptz,
                                     OUT messages bigint, OUT more boolean)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $$
DECLARE
  m      record;
  outbox int := hapax._number_of(0, 'outbox');
  before bigint;
  picked bigint[];
BEGIN
  -- The same call may be under way, its answer lost: its messages are locked, and would be passed over.
  PERFORM pg_advisory_xact_lock(numbers[1] # 448345170297);
  SELECT count(*), count(*) FILTER (WHERE e.source = outbox) INTO before, messages
    FROM hapax.event AS e WHERE e.no = ANY (numbers);
  IF before > 0 THEN
    IF before = messages THEN
      SELECT EXISTS (SELECT 1 FROM hapax.message) INTO more;
      RETURN;
    END IF;
    RAISE EXCEPTION 'an event number is taken' USING ERRCODE = '23505';
  END IF;

  -- Into an array first: a join may run a LIMIT with SKIP LOCKED again, and take more than it says.
  picked := ARRAY(SELECT x.no FROM hapax.message AS x ORDER BY x.no LIMIT cardinality(numbers)
                     FOR UPDATE SKIP LOCKED);
  -- And not more than 32 MiB behind the first: arrays end at a gigabyte.
  picked := ARRAY(
    SELECT x.no FROM (SELECT y.no, sum(octet_length(y.payload)) OVER w - octet_length(y.payload) AS bytes
                        FROM hapax.message AS y WHERE y.no = ANY (picked)
                      WINDOW w AS (ORDER BY y.no)) AS x
     WHERE x.bytes < 33554432);
  WITH taken AS (DELETE FROM hapax.message AS d WHERE d.no = ANY (picked) RETURNING d.*),
  placed AS (
    SELECT t.*, row_number() OVER (ORDER BY t.no) AS place FROM taken AS t)
  SELECT count(*) AS count,
         array_agg(numbers[p.place] ORDER BY p.place) AS nos,
         array_agg(''::bytea) AS empty,
         array_agg(outbox::bigint) AS sources,
         array_agg(convert_to(p.id::text, 'UTF8') ORDER BY p.place) AS ids,
         array_agg(coalesce(p.order_key, '') ORDER BY p.place) AS order_keys,
         array_agg(NULL::bigint) AS nulls,
         array_agg(sha256(p.payload) ORDER BY p.place) AS digests,
         array_agg(p.headers ORDER BY p.place) AS headers,
         array_agg(p.payload ORDER BY p.place) AS bodies,
         array_agg(remember_ms) AS remembers,
         array_agg(0::bigint) AS zeros,
         array_agg(1::bigint) AS ones,
         array_agg(p.place ORDER BY p.place) AS places,
         array_agg(p.destination ORDER BY p.place) AS names,
         array_agg(CASE WHEN p.order_key IS NULL THEN '' ELSE hapax._lane_key(outbox, p.order_key) END
                   ORDER BY p.place) AS lanes
    INTO m FROM placed AS p;
  messages := m.count;
  IF messages > 0 THEN
    PERFORM hapax._admit(
      m.nos, m.empty, m.sources, m.empty, m.ids, m.empty, m.order_keys, m.nulls, m.digests,
      m.headers, m.bodies, m.remembers, m.zeros, m.places, m.nos, m.ones,
      ARRAY(SELECT hapax._number_of(1, n.name) FROM unnest(m.names) WITH ORDINALITY AS n (name, place)
             ORDER BY n.place),
      m.zeros, m.zeros, m.lanes, m.nulls, m.remembers, at);
  END IF;
  SELECT EXISTS (SELECT 1 FROM hapax.message) INTO more;
END
$$;

-- A message in a transaction of its own. Repeated with the same id it is the same message: a claim of
-- ours that has a digest already was committed with its message.
CREATE FUNCTION hapax._send(id uuid, destination text, key bytea, order_key bytea, headers bytea,
                            payload bytea, claim_key bytea, digest bytea, ttl_ms bigint, at timestamptz,
                            OUT message uuid, OUT duplicate boolean, OUT reused boolean)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $$
BEGIN
  IF claim_key IS NOT NULL
     AND hapax._claim(ARRAY[claim_key], ARRAY[uuid_send(_send.id)], ARRAY[ttl_ms], at) = '1' THEN
    -- By a new statement: the claim may have waited for the one that was lost, and the snapshot of
    -- the first cannot see what that one committed.
    SELECT c.result <> digest INTO reused FROM hapax.claim AS c
     WHERE c.key = claim_key AND c.result IS NOT NULL;
    IF FOUND THEN
      message := _send.id;
      duplicate := false;
      RETURN;
    END IF;
  END IF;
  SELECT e.message, e.duplicate, e.reused INTO _send.message, _send.duplicate, _send.reused
    FROM hapax._enqueue(_send.id, _send.destination, _send.key, _send.order_key, _send.headers,
                        _send.payload, claim_key, digest, ttl_ms, at) AS e;
END
$$;
