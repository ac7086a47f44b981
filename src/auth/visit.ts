/** Who is signed in, as pages know them. */
export interface Visitor {
  readonly accountId: string;
  readonly email: string;
  readonly name: string;
  readonly operator: boolean;
  /** Whether the address was shown to be theirs; without it nothing but showing it is open to them. */
  readonly verified: boolean;
  /** The group that their calls are billed under unless a key names another; undefined: `default`. */
  readonly groupName: string | undefined;
  /** As the IANA names it. All times on pages are in it. */
  readonly timeZone: string;
  /** The id of this session, which is not its secret. */
  readonly sessionId: string;
  /** The address that this request came from. */
  readonly ip: string;
  /** When a password was last given in this session. */
  readonly confirmedAt: Date;
  /** Somebody else has seen their password: nothing but choosing another one is open to them. */
  readonly passwordIsTemporary: boolean;
  /** Whether they need a second factor. */
  readonly secondFactorNeeded: boolean;
  /** They need a second factor and have none: nothing but setting one up is open to them. */
  readonly secondFactorMissing: boolean;
}

/** One request of a browser: who asks, and what every page needs to know of it. */
export interface Visit {
  /** Undefined for whoever is not signed in. */
  readonly visitor: Visitor | undefined;
  /** What forms carry so that no other site can send them. */
  readonly csrf: string;
  /** Undefined: as the system has it. */
  readonly theme: 'light' | 'dark' | undefined;
  readonly ip: string;
  readonly userAgent: string;
  readonly requestId: string;
  /** Path and query, as asked for. */
  readonly url: string;
}
