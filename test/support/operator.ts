import { DataSource } from 'typeorm';
import type { PageVisitor } from './page-visitor.js';
import type { RelayApp } from './relay-app.js';
import { signedIn } from './signed-in.js';

/** A browser that an operator has signed in with, just now. */
export async function anOperator(relay: RelayApp): Promise<PageVisitor> {
  const { accountId } = await relay.caller();
  await relay.get(DataSource).query(`UPDATE accounts SET role = 'admin' WHERE id = $1`, [accountId]);
  return signedIn(relay, accountId);
}
