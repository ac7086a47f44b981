import { type Nanos, nanos } from '../shared/index.js';

/** Column options for money: bigint in the database, `Nanos` in the program. The driver returns it as text. */
export const nanosColumn = {
  type: 'bigint',
  transformer: {
    from: (text: string | null): Nanos | null => (text === null ? null : nanos(BigInt(text))),
    to: (amount: unknown): unknown => amount,
  },
} as const;
