import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Responses that run detached from their client, with their events, encrypted as stored responses are. */
export class CreateBackgroundResponses20261128090000 implements MigrationInterface {
  readonly name = 'CreateBackgroundResponses20261128090000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [RESPONSES, EVENTS]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const RESPONSES = `
  -- sealed: the response as it is now. Ends with its key, by end_stored_answers().
  CREATE TABLE background_responses (
    key_id     text NOT NULL,
    id         text NOT NULL,
    account_id text NOT NULL,
    call_id    text NOT NULL,
    status     text NOT NULL,
    sealed     bytea NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT background_response_key PRIMARY KEY (key_id, id),
    CONSTRAINT background_response_status_is_known
      CHECK (status IN ('in_progress', 'completed', 'incomplete', 'failed', 'cancelled'))
  );
  CREATE INDEX background_responses_by_age ON background_responses (key_id, created_at);
  CREATE INDEX background_responses_by_expiry ON background_responses (expires_at);
`;

const EVENTS = `
  -- sealed: events up to the one with this sequence number, from the row before.
  CREATE TABLE background_events (
    key_id        text NOT NULL,
    response_id   text NOT NULL,
    last_sequence integer NOT NULL,
    sealed        bytea NOT NULL,
    CONSTRAINT background_event_key PRIMARY KEY (key_id, response_id, last_sequence),
    CONSTRAINT background_events_have_a_response FOREIGN KEY (key_id, response_id)
      REFERENCES background_responses (key_id, id) ON DELETE CASCADE
  );
`;
