import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Conversations of the Responses API with their items, encrypted as stored responses are. */
export class CreateConversations20261128100000 implements MigrationInterface {
  readonly name = 'CreateConversations20261128100000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [CONVERSATIONS, ITEMS]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const CONVERSATIONS = `
  -- sealed: the metadata. length: characters of all items. Ends with its key, by end_stored_answers().
  CREATE TABLE conversations (
    key_id     text NOT NULL,
    id         text NOT NULL,
    account_id text NOT NULL,
    sealed     bytea NOT NULL,
    next_item  integer NOT NULL DEFAULT 0,
    length     bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT conversation_key PRIMARY KEY (key_id, id)
  );
  CREATE INDEX conversations_by_expiry ON conversations (expires_at);
`;

const ITEMS = `
  CREATE TABLE conversation_items (
    key_id          text NOT NULL,
    conversation_id text NOT NULL,
    id              text NOT NULL,
    ordinal         integer NOT NULL,
    length          integer NOT NULL,
    sealed          bytea NOT NULL,
    CONSTRAINT conversation_item_key PRIMARY KEY (key_id, conversation_id, id),
    CONSTRAINT conversation_items_have_an_order UNIQUE (key_id, conversation_id, ordinal),
    CONSTRAINT conversation_items_have_a_conversation FOREIGN KEY (key_id, conversation_id)
      REFERENCES conversations (key_id, id) ON DELETE CASCADE
  );
`;
