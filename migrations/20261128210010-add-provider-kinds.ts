import type { MigrationInterface, QueryRunner } from 'typeorm';

/** GitHub as a sign-in provider: OAuth 2.0 with its own API instead of OpenID Connect. */
export class AddProviderKinds20261128210010 implements MigrationInterface {
  readonly name = 'AddProviderKinds20261128210010';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE sign_in_providers ADD kind text NOT NULL DEFAULT 'openid'
        CONSTRAINT sign_in_provider_kind_is_known CHECK (kind IN ('openid', 'github'));
    `);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}
