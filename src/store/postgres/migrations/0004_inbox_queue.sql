-- Lease and settle. Whoever needs a lane locks it before rows of it, and rows in the order of (event,
-- delivery); a lease locks what is free and waits for nobody. So nobody waits in a circle.
--
-- Functions that touch the queue keep to its indexes by force: statistics of a queue that was empty
-- when it was looked at make the planner scan it.

-- Gives every lane of the arrays, whose head has left, its next one. Those that are outdated end on
-- the way, `budget` in each lane at most. The lanes are locked. Returns how many were superseded.
CREATE FUNCTION hapax._promote(destinations int[], lanes bytea[], budget bigint, moment timestamptz)
RETURNS bigint
LANGUAGE sql VOLATILE SET search_path = pg_catalog
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
  WITH lost AS MATERIALIZED (
    SELECT l.destination, l.key,
           CASE WHEN l.version_until > moment THEN l.version END AS version
      FROM unnest(destinations, lanes) AS w (destination, key)
      JOIN hapax.lane AS l ON l.destination = w.destination AND l.key = w.key),
  first AS MATERIALIZED (
    SELECT l.destination, l.key, l.version, (f.guard = 0 AND f.version < l.version) IS TRUE AS outdated
      FROM lost AS l
      CROSS JOIN LATERAL (SELECT q.guard, q.version FROM hapax.queue AS q
                           WHERE q.destination = l.destination AND q.lane = l.key AND q.state = 1
                           ORDER BY q.lane_seq LIMIT 1) AS f),
  next AS MATERIALIZED (
    SELECT f.destination, f.key, n.event, n.delivery, n.nth,
           (n.guard = 0 AND n.version < f.version) IS TRUE AS outdated
      FROM first AS f
      CROSS JOIN LATERAL (
        SELECT q.event, q.delivery, q.guard, q.version, row_number() OVER (ORDER BY q.lane_seq) AS nth
          FROM hapax.queue AS q
         WHERE q.destination = f.destination AND q.lane = f.key AND q.state = 1
         ORDER BY q.lane_seq LIMIT CASE WHEN f.outdated THEN budget + 1 ELSE 1 END) AS n),
  head AS MATERIALIZED (
    SELECT DISTINCT ON (n.destination, n.key) n.* FROM next AS n
     WHERE NOT n.outdated OR n.nth = budget + 1 ORDER BY n.destination, n.key, n.nth),
  ended AS (
    UPDATE hapax.queue AS q
       SET state = 4, reason = 0, ended_at = moment, fence = nextval('hapax.fence')
      FROM next AS n LEFT JOIN head AS h ON h.destination = n.destination AND h.key = n.key
     WHERE q.event = n.event AND q.delivery = n.delivery AND (h.nth IS NULL OR n.nth < h.nth)
    RETURNING 1),
  opened AS (
    UPDATE hapax.queue AS q SET state = 0, due_at = greatest(q.due_at, moment)
      FROM head AS h WHERE q.event = h.event AND q.delivery = h.delivery),
  moved AS (
    UPDATE hapax.lane AS l SET head_event = h.event, head_delivery = h.delivery
      FROM lost AS w LEFT JOIN head AS h ON h.destination = w.destination AND h.key = w.key
     WHERE l.destination = w.destination AND l.key = w.key)
  SELECT count(*) FROM ended
$$;

-- Heads that nobody is at give way to a lower place that waits. The lanes are locked; but a lease does
-- not lock them, so the row of the head is asked again when it is ours.
CREATE FUNCTION hapax._reconsider(destinations int[], lanes bytea[], moment timestamptz) RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
  WITH lower AS MATERIALIZED (
    SELECT l.destination, l.key, l.head_event, l.head_delivery, n.event, n.delivery
      FROM unnest(destinations, lanes) AS w (destination, key)
      JOIN hapax.lane AS l ON l.destination = w.destination AND l.key = w.key
      JOIN hapax.queue AS h ON h.event = l.head_event AND h.delivery = l.head_delivery
      CROSS JOIN LATERAL (SELECT q.event, q.delivery FROM hapax.queue AS q
                           WHERE q.destination = l.destination AND q.lane = l.key AND q.state = 1
                             AND q.lane_seq < h.lane_seq
                           ORDER BY q.lane_seq LIMIT 1) AS n),
  demoted AS (
    UPDATE hapax.queue AS q
       SET state = 1, holder_kind = NULL, holder = NULL, fence = nextval('hapax.fence')
      FROM lower AS w
     WHERE q.event = w.head_event AND q.delivery = w.head_delivery AND q.state = 0
       AND (q.holder_kind IS NULL OR q.due_at <= moment)
    RETURNING w.*),
  opened AS (
    UPDATE hapax.queue AS q SET state = 0, due_at = greatest(q.due_at, moment)
      FROM demoted AS w WHERE q.event = w.event AND q.delivery = w.delivery)
  UPDATE hapax.lane AS l SET head_event = w.event, head_delivery = w.delivery
    FROM demoted AS w WHERE l.destination = w.destination AND l.key = w.key
$$;

-- Locks the lanes of these deliveries, in their order, and returns them.
CREATE FUNCTION hapax._lock_lanes(events bigint[], deliveries bigint[],
                                  OUT destinations int[], OUT lanes bytea[])
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
BEGIN
  SELECT array_agg(q.destination), array_agg(q.lane) INTO destinations, lanes
    FROM unnest(events, deliveries) AS w (event, delivery)
    JOIN hapax.queue AS q ON q.event = w.event AND q.delivery = w.delivery
   WHERE q.lane IS NOT NULL;
  IF lanes IS NOT NULL THEN
    PERFORM 1 FROM (SELECT DISTINCT u.destination, u.key
                      FROM unnest(destinations, lanes) AS u (destination, key)) AS w
      JOIN hapax.lane AS l ON l.destination = w.destination AND l.key = w.key
      ORDER BY w.destination, w.key FOR UPDATE OF l;
  END IF;
END
$$;

-- Of the rows that a lease has locked, ends those that must not go out, and returns the others. A row
-- whose lane somebody else has is left as it is: to wait for it could be to wait in a circle.
CREATE FUNCTION hapax._sift(events bigint[], deliveries int[], max_abandons bigint, horizon_ms bigint,
                            block boolean, budget bigint, moment timestamptz,
                            OUT kept_events bigint[], OUT kept_deliveries int[])
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  q    record;
  dies smallint;  -- the reason, 0: it lives
BEGIN
  FOR q IN
    SELECT r.*, (r.guard = 0 AND r.version < l.version AND l.version_until > moment) IS TRUE AS outdated
      FROM unnest(events, deliveries) WITH ORDINALITY AS w (event, delivery, place)
      JOIN hapax.queue AS r ON r.event = w.event AND r.delivery = w.delivery
      LEFT JOIN hapax.lane AS l ON l.destination = r.destination AND l.key = r.lane
     ORDER BY w.place
  LOOP
    dies := CASE WHEN q.holder_kind > 0 AND max_abandons > 0 AND q.abandons + 1 >= max_abandons THEN 3
                 WHEN horizon_ms > 0
                      AND q.first_sent_at + horizon_ms * interval '1 millisecond' <= moment THEN 4
                 ELSE 0 END;
    IF dies = 0 AND NOT q.outdated THEN
      kept_events := kept_events || q.event;
      kept_deliveries := kept_deliveries || q.delivery;
      CONTINUE;
    END IF;
    CONTINUE WHEN dies = 0 AND budget <= 0;
    IF q.lane IS NOT NULL THEN
      PERFORM 1 FROM hapax.lane AS l WHERE l.destination = q.destination AND l.key = q.lane
        FOR UPDATE SKIP LOCKED;
      CONTINUE WHEN NOT FOUND;
    END IF;
    UPDATE hapax.queue AS r
       SET state = CASE WHEN dies > 0 THEN 2 ELSE 4 END, reason = dies, ended_at = moment,
           blocks = dies > 0 AND block AND r.lane IS NOT NULL,
           abandons = r.abandons + CASE WHEN r.holder_kind > 0 THEN 1 ELSE 0 END,
           holder_kind = NULL, holder = NULL, fence = nextval('hapax.fence')
     WHERE r.event = q.event AND r.delivery = q.delivery;
    IF dies = 0 THEN
      budget := budget - 1;
    END IF;
    IF q.lane IS NOT NULL AND (dies = 0 OR NOT block) THEN
      budget := budget - hapax._promote(ARRAY[q.destination], ARRAY[q.lane], budget, moment);
    END IF;
  END LOOP;
END
$$;

-- Leases for a batch of requests, in their order. For each request whose destination is not paused a
-- row without a delivery says how many were looked at and not leased, and the oldest time that was
-- due; then the leases. floors_us is only a hint where to begin: with a transaction that is held open the
-- index is full of entries that are over, all of them at its old end.
CREATE FUNCTION hapax._lease(destinations bigint[], mosts bigint[], leases_ms bigint[], kinds bigint[],
                             owners bigint[], max_abandons bigint[], horizons_ms bigint[],
                             blocks bigint[], floors_us bigint[], superseded_max bigint,
                             bytes_max bigint, at timestamptz)
RETURNS TABLE (request bigint, place bigint, passed bigint, due timestamptz, delivery bigint,
               fence bigint, attempts bigint, abandons bigint, until timestamptz, replay_of bigint,
               event bigint, source bigint, tenant bytea, id bytea, type bytea, headers bytea,
               body bytea, received_at timestamptz, would bigint)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  moment     timestamptz := hapax._moment_ms(at);
  r          record;
  picked     bigint[];
  nths       int[];
  looked     bigint;
  oldest     timestamptz;
  is_special boolean;
BEGIN
  PERFORM hapax._be_durable();
  FOR r IN
    SELECT w.*, timestamptz 'epoch' + w.floor_us * interval '1 microsecond' AS floor
      FROM unnest(destinations, mosts, leases_ms, kinds, owners, max_abandons, horizons_ms, blocks,
                  floors_us) WITH ORDINALITY
             AS w (destination, most, lease_ms, kind, owner, max_abandons, horizon_ms, block, floor_us,
                   request)
     WHERE NOT EXISTS (SELECT 1 FROM hapax.pause AS p WHERE p.destination = w.destination)
     ORDER BY w.request
  LOOP
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
    -- Nothing more behind those that have bytes_max: the answer stands in memory whole. No body is
    -- read for this: its length is in the row.
    IF cardinality(picked) > 1 THEN
      SELECT array_agg(x.event ORDER BY x.place), array_agg(x.delivery ORDER BY x.place)
        INTO picked, nths
        FROM (SELECT w.event, w.delivery, w.place,
                     sum(octet_length(e.headers) + octet_length(e.body)) OVER (ORDER BY w.place)
                       - octet_length(e.headers) - octet_length(e.body) AS bytes
                FROM unnest(picked, nths) WITH ORDINALITY AS w (event, delivery, place)
                JOIN hapax.event AS e ON e.no = w.event) AS x
       WHERE x.bytes < bytes_max;
    END IF;
    RETURN QUERY
      SELECT r.request, 0::bigint, looked - coalesce(cardinality(picked), 0),
             coalesce(oldest, moment),
             NULL::bigint, NULL::bigint, NULL::bigint, NULL::bigint, NULL::timestamptz, NULL::bigint,
             NULL::bigint, NULL::bigint, NULL::bytea, NULL::bytea, NULL::bytea, NULL::bytea,
             NULL::bytea, NULL::timestamptz, NULL::bigint;
    CONTINUE WHEN picked IS NULL;
    RETURN QUERY
      WITH held AS (
        UPDATE hapax.queue AS q
           SET due_at = moment + r.lease_ms * interval '1 millisecond', fence = nextval('hapax.fence'),
               holder_kind = r.kind, holder = r.owner,
               abandons = q.abandons + CASE WHEN q.holder_kind > 0 THEN 1 ELSE 0 END,
               sent_first = q.first_sent_at IS NULL,
               first_sent_at = coalesce(q.first_sent_at, moment)
          FROM unnest(picked, nths) WITH ORDINALITY AS w (event, delivery, place)
         WHERE q.event = w.event AND q.delivery = w.delivery
        RETURNING w.place, q.event, q.delivery, q.fence, q.attempts, q.abandons, q.due_at, q.replay_of)
      SELECT r.request, h.place, NULL::bigint, NULL::timestamptz, h.delivery::bigint, h.fence,
             h.attempts::bigint, h.abandons::bigint, h.due_at, h.replay_of::bigint, e.no,
             e.source::bigint, e.tenant, e.id, e.type, e.headers, e.body, e.received_at,
             e.would::bigint
        FROM held AS h JOIN hapax.event AS e ON e.no = h.event;
  END LOOP;
END
$$;

-- What a settlement that matched no lease gets: 1 the same was done before, 0 it is stale, ? there is
-- no such delivery.
CREATE FUNCTION hapax._settled_before(events bigint[], deliveries bigint[], fences bigint[],
                                      verdicts bigint[], done bigint[])
RETURNS text
LANGUAGE sql VOLATILE SET search_path = pg_catalog
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
  SELECT string_agg(
           CASE WHEN w.place = ANY (done) THEN '1'
                WHEN a.outcome = CASE w.verdict WHEN 4 THEN NULL WHEN 5 THEN 4 ELSE w.verdict END
                  THEN '1'
                WHEN a.outcome IS NOT NULL
                  OR EXISTS (SELECT 1 FROM hapax.queue AS q
                              WHERE q.event = w.event AND q.delivery = w.delivery)
                  OR EXISTS (SELECT 1 FROM hapax.attempt AS o
                              WHERE o.event = w.event AND o.delivery = w.delivery)
                  THEN '0'
                ELSE '?' END, '' ORDER BY w.place)
    FROM unnest(events, deliveries, fences, verdicts) WITH ORDINALITY
           AS w (event, delivery, fence, verdict, place)
    LEFT JOIN hapax.attempt AS a
      ON a.event = w.event AND a.delivery = w.delivery AND a.fence = w.fence
$$;

-- Settles a batch that names each delivery once, sorted by (event, delivery). verdicts: 0 ack, 1
-- retry, 2 drop, 3 dead, 4 renew, 5 release. flags: of 3 whether its lane is blocked, of 1 and 5 whether
-- a byte may have gone out. A character for each: see hapax._settled_before.
--
-- Only the fence is asked, never the state: whatever changes a delivery changes its fence. Who has no
-- holder has no lease.
CREATE FUNCTION hapax._settle(events bigint[], deliveries bigint[], fences bigint[], verdicts bigint[],
                              amounts_ms bigint[], reasons bigint[], flags bigint[], began_us bigint[],
                              took_ms bigint[], statuses bigint[], errors bytea[], excerpts bytea[],
                              superseded_max bigint, at timestamptz)
RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  moment    timestamptz;
  lanes     bytea[];
  done      bigint[];
  l         record;
BEGIN
  PERFORM hapax._be_durable();
  SELECT s.lanes INTO lanes FROM hapax._lock_lanes(events, deliveries) AS s;
  -- Deleted and updated rows are locked in two passes; both kinds at once need an order.
  IF 0 = ANY (verdicts) AND 0 < ANY (verdicts) THEN
    PERFORM 1 FROM unnest(events, deliveries) AS w (event, delivery)
      JOIN hapax.queue AS q ON q.event = w.event AND q.delivery = w.delivery
      ORDER BY w.event, w.delivery FOR UPDATE OF q;
  END IF;
  moment := hapax._moment_ms(at);

  WITH w AS MATERIALIZED (
    SELECT u.*, u.amount_ms * interval '1 millisecond' AS span
      FROM unnest(events, deliveries, fences, verdicts, amounts_ms, reasons, flags) WITH ORDINALITY
             AS u (event, delivery, fence, verdict, amount_ms, reason, flag, place)),
  gone AS (
    DELETE FROM hapax.queue AS q USING w
     WHERE q.event = w.event AND q.delivery = w.delivery AND q.fence = w.fence
       AND q.holder_kind IS NOT NULL AND w.verdict = 0 AND q.replay_of IS NULL
    RETURNING w.place, w.verdict, w.flag, q.destination, q.listen, q.lane, q.version, q.guard),
  changed AS (
    UPDATE hapax.queue AS q
       SET state = CASE w.verdict WHEN 0 THEN 5 WHEN 2 THEN 3 WHEN 3 THEN 2 ELSE 0 END,
           due_at = CASE WHEN w.verdict IN (1, 4) THEN moment + w.span
                         WHEN w.verdict = 5 THEN moment ELSE q.due_at END,
           fence = CASE w.verdict WHEN 4 THEN q.fence ELSE nextval('hapax.fence') END,
           holder_kind = CASE w.verdict WHEN 4 THEN q.holder_kind END,
           holder = CASE w.verdict WHEN 4 THEN q.holder END,
           attempts = CASE WHEN w.verdict = 0 THEN 0 WHEN w.verdict IN (1, 3) THEN q.attempts + 1
                           ELSE q.attempts END,
           abandons = CASE w.verdict WHEN 0 THEN 0 ELSE q.abandons END,
           first_sent_at = CASE WHEN w.verdict = 0 THEN NULL
                                WHEN w.verdict IN (1, 5) AND w.flag = 0 AND q.sent_first THEN NULL
                                ELSE q.first_sent_at END,
           reason = CASE w.verdict WHEN 2 THEN 5 WHEN 3 THEN w.reason ELSE 0 END,
           blocks = w.verdict = 3 AND w.flag = 1 AND q.lane IS NOT NULL,
           ended_at = CASE WHEN w.verdict IN (0, 2, 3) THEN moment END
      FROM w
     WHERE q.event = w.event AND q.delivery = w.delivery AND q.fence = w.fence
       AND q.holder_kind IS NOT NULL AND (w.verdict <> 0 OR q.replay_of IS NOT NULL)
    RETURNING w.place, w.verdict, w.flag, q.destination, q.listen, q.lane, q.version, q.guard),
  ok AS MATERIALIZED (SELECT * FROM gone UNION ALL SELECT * FROM changed),
  noted AS (
    INSERT INTO hapax.attempt (event, delivery, fence, destination, listen, outcome, settled_at,
                               began_us, took_ms, status, error, excerpt)
      SELECT events[o.place], deliveries[o.place], fences[o.place], o.destination, o.listen,
             CASE o.verdict WHEN 5 THEN 4 ELSE o.verdict END, moment,
             began_us[o.place], took_ms[o.place], statuses[o.place], errors[o.place],
             excerpts[o.place]
        FROM ok AS o WHERE o.verdict <> 4)
  SELECT array_agg(o.place) AS places,
         array_agg(o.destination) FILTER (WHERE o.lane IS NOT NULL AND o.leaves) AS left_to,
         array_agg(o.lane) FILTER (WHERE o.lane IS NOT NULL AND o.leaves) AS left_lanes,
         array_agg(CASE WHEN o.verdict = 0 AND o.guard < 2 THEN o.version END)
           FILTER (WHERE o.lane IS NOT NULL AND o.leaves) AS versions,
         array_agg(o.destination) FILTER (WHERE o.lane IS NOT NULL AND o.verdict IN (1, 5)) AS back_to,
         array_agg(o.lane) FILTER (WHERE o.lane IS NOT NULL AND o.verdict IN (1, 5)) AS back_lanes
    INTO l
    FROM (SELECT o.*, o.verdict IN (0, 2) OR (o.verdict = 3 AND o.flag = 0) AS leaves FROM ok AS o) AS o;

  IF l.left_lanes IS NOT NULL THEN
    UPDATE hapax.lane AS n
       SET version = w.version, version_until = moment + n.remember_ms * interval '1 millisecond'
      FROM unnest(l.left_to, l.left_lanes, l.versions) AS w (destination, key, version)
     WHERE n.destination = w.destination AND n.key = w.key AND w.version IS NOT NULL
       AND (n.version IS NULL OR n.version_until <= moment OR n.version < w.version);
    PERFORM hapax._promote(l.left_to, l.left_lanes, superseded_max, moment);
  END IF;
  IF l.back_lanes IS NOT NULL THEN
    PERFORM hapax._reconsider(l.back_to, l.back_lanes, moment);
  END IF;

  done := coalesce(l.places, '{}');
  IF cardinality(done) = cardinality(events) THEN
    RETURN repeat('1', cardinality(events));
  END IF;
  IF current_setting('synchronous_standby_names') <> '' THEN  -- see hapax._claim
    PERFORM pg_logical_emit_message(true, 'hapax', '');
  END IF;
  RETURN hapax._settled_before(events, deliveries, fences, verdicts, done);
END
$$;

-- Frees leases of holders who are known to be dead: `most` of those among the next `scan` rows behind
-- (after_event, after_delivery). Says how far it came, and whether that was the end.
CREATE FUNCTION hapax._release_holder(wanted_kind bigint, wanted_owner bigint, after_event bigint,
                                      after_delivery bigint, scan bigint, most bigint, at timestamptz,
                                      OUT released bigint, OUT last_event bigint,
                                      OUT last_delivery bigint, OUT done boolean)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog
SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  moment timestamptz := hapax._moment_ms(at);
  w      record;
  l      record;
BEGIN
  PERFORM hapax._be_durable();
  WITH looked AS MATERIALIZED (
    SELECT q.event, q.delivery, q.fence,
           (q.state = 0 AND q.holder_kind = wanted_kind
              AND (wanted_owner IS NULL OR q.holder = wanted_owner)) IS TRUE AS held
      FROM hapax.queue AS q WHERE (q.event, q.delivery) > (after_event, after_delivery)
     ORDER BY q.event, q.delivery LIMIT scan),
  theirs AS MATERIALIZED (
    SELECT k.* FROM looked AS k WHERE k.held ORDER BY k.event, k.delivery LIMIT most)
  SELECT array_agg(t.event ORDER BY t.event, t.delivery) AS events,
         array_agg(t.delivery::bigint ORDER BY t.event, t.delivery) AS deliveries,
         array_agg(t.fence ORDER BY t.event, t.delivery) AS fences,
         (SELECT count(*) FROM looked) AS looked,
         (SELECT ARRAY[k.event, k.delivery] FROM looked AS k
           ORDER BY k.event DESC, k.delivery DESC LIMIT 1) AS last
    INTO w FROM theirs AS t;
  done := w.looked < scan AND coalesce(cardinality(w.events), 0) < most;
  last_event := coalesce(w.last[1], after_event);
  last_delivery := coalesce(w.last[2], after_delivery);
  released := 0;
  IF w.events IS NULL THEN
    RETURN;
  END IF;
  IF cardinality(w.events) = most THEN
    last_event := w.events[most];
    last_delivery := w.deliveries[most];
  END IF;
  SELECT s.* INTO l FROM hapax._lock_lanes(w.events, w.deliveries) AS s;
  PERFORM 1 FROM unnest(w.events, w.deliveries) AS u (event, delivery)
    JOIN hapax.queue AS q ON q.event = u.event AND q.delivery = u.delivery
    ORDER BY u.event, u.delivery FOR UPDATE OF q;
  UPDATE hapax.queue AS q
     SET due_at = moment, holder_kind = NULL, holder = NULL, fence = nextval('hapax.fence')
    FROM unnest(w.events, w.deliveries, w.fences) AS u (event, delivery, fence)
   WHERE q.event = u.event AND q.delivery = u.delivery AND q.fence = u.fence;
  GET DIAGNOSTICS released = ROW_COUNT;
  IF l.lanes IS NOT NULL THEN
    PERFORM hapax._reconsider(l.destinations, l.lanes, moment);
  END IF;
END
$$;
