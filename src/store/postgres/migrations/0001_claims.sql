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
CREATE FUNCTION hapax._be_durable() RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $$
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

-- Takes every claim that is free or over, each for the first place in the arrays that names its key.
-- Returns a digit for each place: 1 where the claim now stands under that place's token, 0 where
-- another holds it.
--
-- INSERT ... DO NOTHING waits for a transaction that holds the key and has not ended, so a claim
-- whose commit is still under way is not missed. What it found taken is read by a NEW statement,
-- because the snapshot of the first cannot see the winner. Keys are locked in their order, so that
-- two batches cannot wait for each other. At repeatable read and serializable a winner outside the
-- snapshot raises 40001: it did not happen, run the transaction again.
CREATE FUNCTION hapax._claim(keys bytea[], tokens bytea[], ttls_ms bigint[], at timestamptz)
RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $$
DECLARE
  wanted bigint := cardinality(keys);
  fresh  bigint;
  answer text;
BEGIN
  PERFORM hapax._be_durable();
  -- A claim that was found taken may be removed, once over, before it is read: then it is free.
  FOR attempt IN 1..100 LOOP
    INSERT INTO hapax.claim (key, token, expires_at)
      SELECT DISTINCT ON (w.key)
             w.key, w.token, hapax._moment(at) + w.ttl_ms * interval '1 millisecond'
        FROM unnest(keys, tokens, ttls_ms) WITH ORDINALITY AS w (key, token, ttl_ms, place)
       ORDER BY w.key, w.place
      ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS fresh = ROW_COUNT;
    IF fresh = wanted AND attempt = 1 THEN
      RETURN repeat('1', wanted::int);
    END IF;

    PERFORM 1 FROM hapax.claim AS c
      WHERE c.key = ANY (keys) AND c.expires_at <= hapax._moment(at)
      ORDER BY c.key FOR UPDATE;
    IF FOUND THEN
      UPDATE hapax.claim AS c
         SET token = w.token, result = NULL,
             expires_at = hapax._moment(at) + w.ttl_ms * interval '1 millisecond'
        FROM (SELECT DISTINCT ON (u.key) u.*
                FROM unnest(keys, tokens, ttls_ms) WITH ORDINALITY AS u (key, token, ttl_ms, place)
               ORDER BY u.key, u.place) AS w
       WHERE c.key = w.key AND c.expires_at <= hapax._moment(at);
    END IF;

    SELECT string_agg(CASE WHEN c.token = w.token THEN '1' ELSE '0' END, '' ORDER BY w.place)
             FILTER (WHERE c.key IS NOT NULL)
      INTO answer
      FROM unnest(keys, tokens) WITH ORDINALITY AS w (key, token, place)
      LEFT JOIN hapax.claim AS c ON c.key = w.key;
    EXIT WHEN length(answer) = wanted;
    IF attempt = 100 THEN
      RAISE EXCEPTION 'claims come and go too fast' USING ERRCODE = '40001';
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

-- once(): one claim, and the stored result when it is not ours.
CREATE FUNCTION hapax._once(key bytea, token bytea, ttl_ms bigint, at timestamptz,
                            OUT fresh boolean, OUT result bytea)
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $$
BEGIN
  fresh := hapax._claim(ARRAY[_once.key], ARRAY[_once.token], ARRAY[_once.ttl_ms], at) = '1';
  IF NOT fresh THEN
    SELECT c.result INTO _once.result FROM hapax.claim AS c WHERE c.key = _once.key;
    IF NOT FOUND THEN  -- over, and removed since
      RAISE EXCEPTION 'the claim ended while it was read' USING ERRCODE = '40001';
    END IF;
  END IF;
END
$$;

-- Adds the result of the work to the claim of the same transaction.
CREATE FUNCTION hapax._keep(key bytea, token bytea, result bytea) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $$
BEGIN
  UPDATE hapax.claim AS c SET result = _keep.result
   WHERE c.key = _keep.key AND c.token = _keep.token;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the claim is gone: the transaction it was made in was rolled back'
      USING ERRCODE = 'HX003';
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
  standing hapax.claim;
BEGIN
  message := _enqueue.id;
  duplicate := false;
  reused := false;
  PERFORM hapax._be_durable();
  IF claim_key IS NOT NULL THEN
    IF hapax._claim(ARRAY[claim_key], ARRAY[uuid_send(_enqueue.id)], ARRAY[ttl_ms], at) = '1' THEN
      UPDATE hapax.claim AS c SET result = digest WHERE c.key = claim_key;
    ELSE
      SELECT c.* INTO standing FROM hapax.claim AS c WHERE c.key = claim_key;
      IF NOT FOUND THEN  -- over, and removed since
        RAISE EXCEPTION 'the claim ended while it was read' USING ERRCODE = '40001';
      END IF;
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

-- Removes `most` claims that are over, and says how many it were. Never waits for anybody.
CREATE FUNCTION hapax._purge(most bigint, at timestamptz) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $$
DECLARE
  moment  timestamptz := hapax._moment(at);  -- read once: an index is of no use to a volatile function
  removed bigint;
BEGIN
  DELETE FROM hapax.claim WHERE ctid = ANY (ARRAY(
    SELECT c.ctid FROM hapax.claim AS c WHERE c.expires_at <= moment
     LIMIT most FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END
$$;
