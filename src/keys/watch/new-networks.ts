const DAY_MS = 24 * 60 * 60 * 1000;

/** So long after its first use a key is used from wherever its owner sets it up. */
export const LEARNING_DAYS = 3;
/** A key of so many networks travels, or serves many people: another one says nothing, and is not remembered. */
export const MAX_NETWORKS = 20;
/** A network is forgotten when the key has not been used from it for so long. */
export const REMEMBERED_DAYS = 90;
/** What is found later, as after an upgrade, is learnt without a word. */
const NOTICE_INTERVAL_MS = DAY_MS;

/** Calls of a key from one network. */
export interface NetworkUse {
  readonly keyId: string;
  readonly network: string;
  /** That the first of the calls came from. */
  readonly address: string;
  readonly firstAt: Date;
  readonly lastAt: Date;
}

/** What is known of a key before these calls. */
export interface KnownKey {
  readonly accountId: string;
  /** It is enabled, and may be used from anywhere: a key that names its networks is refused from all others. */
  readonly watched: boolean;
  readonly networks: number;
  /** When it was first used from the networks that are remembered; undefined: never. */
  readonly since: Date | undefined;
}

interface Learnt {
  readonly use: NetworkUse;
  /** Its owner is told. */
  readonly told: boolean;
}

/**
 * Which of the networks that a key was not used from before are remembered, and which of them its owner is told of: none
 * while it is learnt where the key lives, which begins anew when all that was known is forgotten.
 */
export function newNetworks(uses: readonly NetworkUse[], known: KnownKey, now: Date): readonly Learnt[] {
  const ordered = uses.toSorted((one, other) => one.firstAt.getTime() - other.firstAt.getTime());
  const begin = Math.min(known.since?.getTime() ?? Infinity, ordered[0]?.firstAt.getTime() ?? Infinity);
  return ordered.slice(0, Math.max(0, MAX_NETWORKS - known.networks)).map((use) => ({
    use,
    told:
      known.watched &&
      use.firstAt.getTime() - begin >= LEARNING_DAYS * DAY_MS &&
      now.getTime() - use.firstAt.getTime() <= NOTICE_INTERVAL_MS,
  }));
}
