import type { Nanos } from '../../platform/shared/index.js';

/** Something about a key that is not as usual, and what its owner should look at. */
export type KeyNotice = NoticeFacts & {
  readonly id: string;
  readonly accountId: string;
  readonly keyId: string;
  /** As it is called now. */
  readonly keyName: string;
  /** Of its owner. */
  readonly timeZone: string;
  /** What of its kind happens to the key once. */
  readonly occasion: string;
  /** When it happened: the first call from the network, or when the hour was looked at. */
  readonly at: Date;
};

type NoticeFacts =
  | { readonly kind: 'new-network'; readonly address: string; readonly network: string }
  | {
      readonly kind: 'unusual-volume';
      /** Within the hour up to then. */
      readonly spent: Nanos;
      /** In the largest hour of the 14 days before. */
      readonly usual: Nanos;
    };

/** What is written of a new one. */
export type NewKeyNotice = NoticeFacts & Pick<KeyNotice, 'accountId' | 'keyId' | 'occasion' | 'at'>;
