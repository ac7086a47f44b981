import { randomBytes } from 'node:crypto';
import { DataSource } from 'typeorm';
import { SessionService } from '../../src/auth/index.js';
import { PageVisitor } from './page-visitor.js';
import type { RelayApp } from './relay-app.js';

/** A browser that is signed in as this account, its address verified, with a password of its own that was never typed. */
export async function signedIn(relay: RelayApp, accountId: string): Promise<PageVisitor> {
  await relay
    .get(DataSource)
    .query(
      `UPDATE accounts SET verified_at = coalesce(verified_at, now()), password_is_temporary = false WHERE id = $1`,
      [accountId],
    );
  const token = randomBytes(32).toString('base64url');
  await relay.get(SessionService).start(accountId, token, true, { ip: '127.0.0.1', userAgent: 'test' });
  const visitor = new PageVisitor(relay.url);
  visitor.cookies.set('switchboard-visit', token);
  return visitor;
}
