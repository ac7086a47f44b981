import { type Nanos, nanos } from '../shared/index.js';

/** How an amount of money stands in an entity: a bigint column, a `Nanos` in the program. The driver reads it as text. */
export const nanosColumn = {
  type: 'bigint',
  transformer: {
    from: (text: string | null): Nanos | null => (text === null ? null : nanos(BigInt(text))),
    to: (amount: unknown): unknown => amount,
  },
} as const;
