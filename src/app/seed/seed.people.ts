/** The password of every account here: known to anyone who can read this file. */
export const SEED_PASSWORD = 'switchboard-dev';

/** A key of which the secret is known, for a first `curl`; all others are random, as keys are. */
export const SEED_SECRET = 'sk-dev-known-to-everyone-use-it-nowhere-else';

/** A key and what was done with it. Amounts in dollars, times in days before now. */
export interface SeedKey {
  readonly name: string;
  readonly calls: number;
  /** When its calls were made: from and to. The whole month when absent. */
  readonly days?: readonly [number, number];
  readonly secret?: string;
  readonly quota?: string;
  readonly group?: string;
  readonly models?: readonly string[];
  readonly expiredDaysAgo?: number;
  /** Switched off when its calls have been made. */
  readonly disabled?: true;
  /** Calls that were refused because the key or its account is switched off or expired, within the last days. */
  readonly refused?: number;
}

/** Money that the operator moved. */
export interface SeedMovement {
  readonly amount: string;
  readonly reason: string;
  readonly daysAgo: number;
}

export interface SeedAccount {
  readonly email: string;
  readonly name: string;
  readonly admin?: true;
  readonly group?: string;
  readonly credit: string;
  readonly movements?: readonly SeedMovement[];
  /** Switched off when its calls have been made. */
  readonly disabled?: true;
  readonly keys: readonly SeedKey[];
}

/** Days of which the last refusals are. */
export const REFUSED_DAYS: readonly [number, number] = [5, 0];

/** Of these, some have money, one has run out of it, one is switched off. */
export const SEED_ACCOUNTS: readonly SeedAccount[] = [
  {
    email: 'admin@example.com',
    name: 'Admin',
    admin: true,
    credit: '20',
    keys: [{ name: 'checks', calls: 100 }],
  },
  {
    email: 'ada@example.com',
    name: 'Ada',
    credit: '100',
    movements: [
      { amount: '25', reason: 'Bank transfer', daysAgo: 17 },
      { amount: '-5', reason: 'Correction: the transfer was entered with a fee', daysAgo: 16 },
    ],
    keys: [
      { name: 'laptop', calls: 620, secret: SEED_SECRET },
      { name: 'nightly tests', calls: 260, quota: '1.5' },
      { name: 'old phone', calls: 120, days: [30, 8], disabled: true, refused: 12 },
      { name: 'contractor', calls: 0, quota: '10', expiredDaysAgo: 6, refused: 8 },
    ],
  },
  {
    email: 'grace@example.com',
    name: 'Grace',
    group: 'saver',
    credit: '40',
    keys: [
      { name: 'agent', calls: 420 },
      { name: 'reports', calls: 180, group: 'default' },
    ],
  },
  {
    email: 'alan@example.com',
    name: 'Alan, who has spent it all',
    credit: '1',
    keys: [{ name: 'notebook', calls: 160 }],
  },
  {
    email: 'former@example.com',
    name: 'Former member',
    credit: '10',
    disabled: true,
    keys: [{ name: 'script', calls: 110, days: [30, 12], refused: 10 }],
  },
];
