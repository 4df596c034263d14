-- Claims and the outbox. hapax runs this inside a transaction; a released migration never changes.

CREATE TABLE hapax.claim (
  key        bytea       NOT NULL PRIMARY KEY,  -- see base/claim_key.hpp
  token      bytea       NOT NULL,              -- whose claim: 16 bytes
  expires_at timestamptz NOT NULL,              -- over when now >= expires_at
  result     bytea                              -- what once() stored, or the digest of a message
);
-- Retention finds what is over by block ranges; a btree would cost every claim an index page.
CREATE INDEX claim_expires_at ON hapax.claim USING brin (expires_at) WITH (pages_per_range = 32);

CREATE TABLE hapax.message (
  no          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id          uuid        NOT NULL,             -- made before the insert
  destination text        NOT NULL,
  key         bytea,
  order_key   bytea,
  headers     bytea       NOT NULL,
  payload     bytea       NOT NULL,
  created_at  timestamptz NOT NULL
);

-- The moment that decides: what a test passes in, or the server's clock. Never now(), which stands
-- still inside a caller's long transaction.
CREATE FUNCTION hapax._moment(at timestamptz) RETURNS timestamptz
LANGUAGE sql VOLATILE AS 'SELECT coalesce(at, pg_catalog.clock_timestamp())';

-- Makes the commit of this transaction wait for the disk, where the server was told not to. The claim
-- is visible to others as soon as it commits: who answers "duplicate" relies on it.
-- For functions that have set the search path.
CREATE FUNCTION hapax._be_durable() RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF current_setting('synchronous_commit') = 'off' THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
  -- A wait for a standby that was cancelled is told in a warning, and by nothing else.
  IF current_setting('client_min_messages') = 'error' THEN
    PERFORM set_config('client_min_messages', 'warning', true);
  END IF;
END
$$;

-- Who holds each claim: 1 its place's token, 0 another's, - nobody, or it is over. Planned once, by the
-- index, whatever the planner thinks: a plan made while the table was small would read all of a large
-- one.
CREATE FUNCTION hapax._holders(keys bytea[], tokens bytea[], moment timestamptz) RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog
SET enable_seqscan = off SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN (
    SELECT string_agg(
             coalesce((SELECT CASE WHEN c.expires_at <= moment THEN '-'
                                   WHEN c.token = w.token THEN '1' ELSE '0' END
                         FROM hapax.claim AS c WHERE c.key = w.key), '-'),
             '' ORDER BY w.place)
      FROM unnest(keys, tokens) WITH ORDINALITY AS w (key, token, place));
END
$$;

-- Takes the claims that are over, each for the first place that names its key. Locks them in the order
-- of the keys, and changes no other: one that was made and ended since then would be out of turn.
CREATE FUNCTION hapax._take_over(keys bytea[], tokens bytea[], ttls_ms bigint[], moment timestamptz)
RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog
SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  locked bytea[] := ARRAY(
    SELECT c.key FROM hapax.claim AS c
     WHERE c.key = ANY (keys) AND c.expires_at <= moment
     ORDER BY c.key FOR UPDATE);
BEGIN
  UPDATE hapax.claim AS c
     SET token = w.token, result = NULL,
         expires_at = moment + w.ttl_ms * interval '1 millisecond'
    FROM (SELECT DISTINCT ON (u.key) u.*
            FROM unnest(keys, tokens, ttls_ms) WITH ORDINALITY AS u (key, token, ttl_ms, place)
           WHERE u.key = ANY (locked)
           ORDER BY u.key, u.place) AS w
   WHERE c.key = w.key;
END
$$;

-- Takes every claim that is free or over, each for the first place in the arrays that names its key.
-- Returns a digit for each place: 1 where the claim now stands under that place's token, 0 where
-- another holds it. `patience_ms` is how long to wait for another transaction; NULL: as long as the
-- session's lock_timeout says.
--
-- INSERT ... DO NOTHING waits for a transaction that holds the key and has not ended, so a claim
-- whose commit is still under way is not missed. What it found taken is read by a NEW statement,
-- because the snapshot of the first cannot see the winner. At repeatable read and serializable a
-- winner outside the snapshot raises 40001: it did not happen, run the transaction again.
--
-- Nobody waits in a circle, if `keys` are in order. Who inserts waits only for greater keys than it
-- holds. Who takes over waits only for others who do, in order too, and for _purge, which waits for
-- nobody. To insert once more while holding other keys would break that, hence the 40001 below.
CREATE FUNCTION hapax._claim(keys bytea[], tokens bytea[], ttls_ms bigint[], at timestamptz,
                             patience_ms bigint DEFAULT NULL) RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $$
DECLARE
  wanted bigint := cardinality(keys);
  fresh  bigint;
  moment timestamptz;
  answer text;
BEGIN
  PERFORM hapax._be_durable();
  IF patience_ms IS NOT NULL THEN
    PERFORM set_config('lock_timeout', patience_ms::text, true);
  END IF;
  -- A claim that was found taken may be removed, once over, before it is read: then it is free.
  FOR attempt IN 1..100 LOOP
    INSERT INTO hapax.claim (key, token, expires_at)
      SELECT w.key, w.token,
             hapax._moment(at) + w.ttl_ms * interval '1 millisecond'
        FROM (SELECT unnest(keys) AS key, unnest(tokens) AS token, unnest(ttls_ms) AS ttl_ms) AS w
      ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS fresh = ROW_COUNT;
    IF fresh = wanted THEN
      RETURN repeat('1', wanted::int);
    END IF;

    moment := hapax._moment(at);
    answer := hapax._holders(keys, tokens, moment);
    IF strpos(answer, '-') > 0 THEN
      PERFORM hapax._take_over(keys, tokens, ttls_ms, moment);
      answer := hapax._holders(keys, tokens, moment);
    END IF;
    EXIT WHEN strpos(answer, '-') = 0;
    IF wanted > 1 OR attempt = 100 THEN
      RAISE EXCEPTION 'a claim ended while it was read' USING ERRCODE = '40001';
    END IF;
  END LOOP;

  -- With synchronous standbys a claim can be visible here and not there yet. A commit of our own that
  -- writes WAL waits for everything before it.
  IF current_setting('synchronous_standby_names') <> '' THEN
    PERFORM pg_logical_emit_message(true, 'hapax', '');
  END IF;
  RETURN answer;
END
$$;

-- A claim that was found taken. By the index, as in _holders.
CREATE FUNCTION hapax._standing(key bytea) RETURNS hapax.claim
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
  standing hapax.claim;
BEGIN
  SELECT c.* INTO standing FROM hapax.claim AS c WHERE c.key = _standing.key;
  IF NOT FOUND THEN  -- over, and removed since
    RAISE EXCEPTION 'a claim ended while it was read' USING ERRCODE = '40001';
  END IF;
  RETURN standing;
END
$$;

-- Adds the result of the work to the claim of the same transaction. By the index, as in _holders.
CREATE FUNCTION hapax._keep(key bytea, token bytea, result bytea) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
  UPDATE hapax.claim AS c SET result = _keep.result
   WHERE c.key = _keep.key AND c.token = _keep.token;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the claim is gone: the transaction it was made in was rolled back'
      USING ERRCODE = 'HX003';
  END IF;
END
$$;

-- once(): one claim, and the stored result when it is not ours.
CREATE FUNCTION hapax._once(key bytea, token bytea, ttl_ms bigint, at timestamptz,
                            OUT fresh boolean, OUT result bytea)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $$
BEGIN
  fresh := hapax._claim(ARRAY[_once.key], ARRAY[_once.token], ARRAY[_once.ttl_ms], at) = '1';
  IF NOT fresh THEN
    result := (hapax._standing(_once.key)).result;
  END IF;
END
$$;

-- One row in the outbox. With a claim key: a message that is there already under the same key and
-- digest is a duplicate, with another digest the key is reused. That is an answer and not an
-- exception, which would end the caller's transaction.
CREATE FUNCTION hapax._enqueue(id uuid, destination text, key bytea, order_key bytea,
                               headers bytea, payload bytea, claim_key bytea, digest bytea,
                               ttl_ms bigint, at timestamptz,
                               OUT message uuid, OUT duplicate boolean, OUT reused boolean)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $$
DECLARE
  token    bytea := uuid_send(_enqueue.id);
  standing hapax.claim;
BEGIN
  message := _enqueue.id;
  duplicate := false;
  reused := false;
  PERFORM hapax._be_durable();
  IF claim_key IS NOT NULL THEN
    IF hapax._claim(ARRAY[claim_key], ARRAY[token], ARRAY[ttl_ms], at) = '1' THEN
      PERFORM hapax._keep(claim_key, token, digest);
    ELSE
      standing := hapax._standing(claim_key);
      message := encode(standing.token, 'hex')::uuid;
      duplicate := true;
      reused := standing.result IS DISTINCT FROM digest;
      RETURN;
    END IF;
  END IF;
  INSERT INTO hapax.message (id, destination, key, order_key, headers, payload, created_at)
    VALUES (_enqueue.id, _enqueue.destination, _enqueue.key, _enqueue.order_key,
            _enqueue.headers, _enqueue.payload, hapax._moment(at));
END
$$;

-- Removes `most` claims that are over, and says how many it were. Never waits for anybody. Planned
-- anew each time: how many are over decides whether the index is of use.
CREATE FUNCTION hapax._purge(most bigint, at timestamptz) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog
SET plan_cache_mode = force_custom_plan AS $$
DECLARE
  moment  timestamptz := hapax._moment(at);
  removed bigint;
BEGIN
  DELETE FROM hapax.claim WHERE ctid = ANY (ARRAY(
    SELECT c.ctid FROM hapax.claim AS c WHERE c.expires_at <= moment
     LIMIT most FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END
$$;
