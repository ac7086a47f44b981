-- Small trigger functions.

CREATE OR REPLACE FUNCTION refuse_change_of_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END $$;

-- Deletes the stored responses, background responses and conversations of a key that is deleted, or that may no longer
-- store any. Background responses that run are then cancelled.
CREATE OR REPLACE FUNCTION end_stored_answers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM stored_answers WHERE key_id = NEW.id;
  DELETE FROM background_responses WHERE key_id = NEW.id;
  DELETE FROM conversations WHERE key_id = NEW.id;
  RETURN NULL;
END $$;

-- Deletes the upstream states of a deleted account.
CREATE OR REPLACE FUNCTION end_upstream_states() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM upstream_states WHERE account_id = NEW.id;
  RETURN NULL;
END $$;

-- Queues an account for the next threshold scan, ahead of its turn: it changed its alert settings or the limits of a
-- key. One row per change and no key, so that writers never wait for each other.
CREATE OR REPLACE FUNCTION recheck_alerts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO alert_rechecks VALUES (NEW.account_id);
  RETURN NULL;
END $$;
