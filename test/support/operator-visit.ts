import { DataSource } from 'typeorm';
import { Onboarding } from '../../src/keys/onboarding/index.js';
import { Secret } from '../../src/platform/shared/index.js';
import type { PageVisitor } from './page-visitor.js';
import type { RelayApp } from './relay-app.js';
import { signedIn } from './signed-in.js';

export const OPERATOR_PASSWORD = 'violet kettle umbrella';

/** Somebody who runs the service, signed in just now. */
export interface OperatorVisit {
  readonly accountId: string;
  readonly email: string;
  readonly browser: PageVisitor;
}

let made = 0;

/** An administrator in a browser. */
export async function operatorVisit(relay: RelayApp): Promise<OperatorVisit> {
  const email = `operator${++made}@example.com`;
  const password = new Secret(OPERATOR_PASSWORD);
  const { id } = await relay.get(Onboarding).createAccount({ email, password, role: 'admin', verified: true });
  return { accountId: id, email, browser: await signedIn(relay, id) };
}

/** Makes the last time that a password was given longer ago than forms that ask for a recent sign-in allow. */
export async function forgetSignIn(relay: RelayApp, accountId: string): Promise<void> {
  const sql = `UPDATE sessions SET confirmed_at = now() - interval '16 minutes' WHERE account_id = $1`;
  await relay.get(DataSource).query(sql, [accountId]);
}

/** The one-time mark of the form on a page. */
export const onceOf = (page: string): string => /name="_once" value="([^"]+)"/.exec(page)?.[1] ?? '';
