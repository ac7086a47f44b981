/** A relay with an operator in a browser and a user of theirs, for specs of what operators do with users. */

import { WalletService } from '../../src/wallet/index.js';
import { operatorVisit, type OperatorVisit } from './operator-visit.js';
import { RelayApp, type TestCaller } from './relay-app.js';

export interface OperatedUser {
  readonly relay: RelayApp;
  /** Another one for each test; so is the user. */
  readonly operator: OperatorVisit;
  /** Has $5, and a key. */
  readonly ann: TestCaller;
  /** The operator's page of the user. */
  readonly there: string;
  /** Of the user, or of another account. */
  readonly balance: (id?: string) => Promise<bigint>;
}

/** Starts it for a spec file and stops it at the end. */
export function useOperatedUser(): OperatedUser {
  let relay: RelayApp;
  let operator: OperatorVisit;
  let ann: TestCaller;

  beforeAll(async () => {
    relay = await RelayApp.start();
  });
  afterAll(() => relay.close());
  beforeEach(async () => {
    operator = await operatorVisit(relay);
    ann = await relay.caller({ credit: '5' });
  });

  return {
    get relay() {
      return relay;
    },
    get operator() {
      return operator;
    },
    get ann() {
      return ann;
    },
    get there() {
      return `/admin/users/${ann.accountId}`;
    },
    balance: async (id = ann.accountId) => (await relay.get(WalletService).balanceOf(id)).balance,
  };
}
