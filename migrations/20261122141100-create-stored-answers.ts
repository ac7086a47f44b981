import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Answers that clients asked to have kept, and which channel made those that are kept by their upstream. */
export class CreateStoredAnswers20261122141100 implements MigrationInterface {
  readonly name = 'CreateStoredAnswers20261122141100';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [ANSWERS, ITEMS, END_WITH_KEY]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const ANSWERS = `
  -- sealed: what was asked and answered, encrypted under the secret of the key, which is not in this database. Null: the
  -- channel keeps the answer itself. It is random to anyone who would compress it.
  -- No foreign key on api_keys: its check would wait for every admission under the key, and these for it.
  CREATE TABLE stored_answers (
    key_id     text NOT NULL,
    id         text NOT NULL,
    account_id text NOT NULL,
    call_id    text NOT NULL,
    channel_id text NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    sealed     bytea,
    CONSTRAINT stored_answer_key PRIMARY KEY (key_id, id)
  );
  -- Not in CREATE TABLE, which PostgreSQL 15 would not understand.
  ALTER TABLE stored_answers ALTER COLUMN sealed SET STORAGE EXTERNAL;
  CREATE INDEX stored_answers_by_age ON stored_answers (key_id, created_at);
  CREATE INDEX stored_answers_by_call ON stored_answers (call_id);
  CREATE INDEX stored_answers_by_expiry ON stored_answers (expires_at);
`;

const ITEMS = `
  -- Which answer an item is part of: a later request may name the item alone.
  CREATE TABLE stored_answer_items (
    key_id    text NOT NULL,
    id        text NOT NULL,
    answer_id text NOT NULL,
    CONSTRAINT stored_answer_item_key PRIMARY KEY (key_id, id),
    CONSTRAINT stored_answer_item_belongs_to_answer FOREIGN KEY (key_id, answer_id)
      REFERENCES stored_answers (key_id, id) ON DELETE CASCADE
  );
  CREATE INDEX stored_answer_items_by_answer ON stored_answer_items (key_id, answer_id);
`;

const END_WITH_KEY = `
  -- With its key, and when its key is to keep none any more.
  CREATE FUNCTION end_stored_answers() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    DELETE FROM stored_answers WHERE key_id = NEW.id;
    RETURN NULL;
  END $$;
  CREATE TRIGGER key_ends_its_stored_answers AFTER UPDATE OF state, never_stores ON api_keys
    FOR EACH ROW WHEN (NEW.state = 'deleted' OR NEW.never_stores) EXECUTE FUNCTION end_stored_answers();
`;
