import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Issuers of JWTs that are accepted as API keys. */
export class CreateTokenIssuers20261128230000 implements MigrationInterface {
  readonly name = 'CreateTokenIssuers20261128230000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [ISSUERS, KEYS]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const ISSUERS = `
  -- jwks_uri: null: from the issuer's metadata. required_claims: 'name=value'. holder: what a subject is. matched_by: how
  -- its account is found; null for services. claim: the one with the subject. revision: detects concurrent changes.
  CREATE TABLE token_issuers (
    id                 text PRIMARY KEY,
    name               text NOT NULL,
    issuer             text NOT NULL,
    jwks_uri           text,
    audience           text NOT NULL,
    algorithms         text[] NOT NULL,
    required_claims    text[] NOT NULL,
    max_lifetime_hours integer NOT NULL,
    holder             text NOT NULL,
    matched_by         text,
    claim              text NOT NULL,
    organization_id    text CONSTRAINT token_issuer_is_of_organization REFERENCES organizations (id),
    team_id            text,
    revision           integer NOT NULL DEFAULT 1,
    created_at         timestamptz NOT NULL,
    CONSTRAINT token_issuer_is_unique UNIQUE (issuer, audience),
    CONSTRAINT token_issuer_algorithms_are_not_empty CHECK (cardinality(algorithms) > 0),
    CONSTRAINT token_issuer_lifetime_is_positive CHECK (max_lifetime_hours > 0),
    CONSTRAINT token_issuer_holder_is_known CHECK (holder IN ('account', 'member', 'service')),
    CONSTRAINT token_issuer_match_is_known CHECK (matched_by IN ('identity', 'email')),
    CONSTRAINT token_issuer_matches_accounts CHECK ((matched_by IS NULL) = (holder = 'service')),
    CONSTRAINT token_issuer_organization_has_holders CHECK ((organization_id IS NULL) = (holder = 'account')),
    CONSTRAINT token_issuer_team_is_of_service CHECK (team_id IS NULL OR holder = 'service'),
    CONSTRAINT token_issuer_team_is_of_organization
      FOREIGN KEY (organization_id, team_id) REFERENCES teams (organization_id, id)
  );
`;

const KEYS = `
  -- The key of a token's subject: secret_hash is that of issuer and subject, and of no secret. The issuer may be deleted.
  -- Null: a key with a secret.
  ALTER TABLE api_keys ADD COLUMN token_issuer_id text;
`;
