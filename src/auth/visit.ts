/** The signed-in user, as pages know them. */
export interface Visitor {
  readonly accountId: string;
  readonly email: string;
  readonly name: string;
  readonly operator: boolean;
  /** Whether the email address is verified; without it only verification is possible. */
  readonly verified: boolean;
  /** The default group of their calls; undefined: `default`. */
  readonly groupName: string | undefined;
  /** IANA name; pages show all times in it. */
  readonly timeZone: string;
  /** ID of the session, which is not its secret. */
  readonly sessionId: string;
  /** Client address of this request. */
  readonly ip: string;
  /** When a password was last entered in this session. */
  readonly confirmedAt: Date;
  /** The password was set by someone else and must be changed first. */
  readonly passwordIsTemporary: boolean;
  /** Whether they must have a second factor. */
  readonly secondFactorNeeded: boolean;
  /** They must have a second factor but do not: only its setup is possible. */
  readonly secondFactorMissing: boolean;
}

/** A browser request: the user, and what every page needs. */
export interface Visit {
  /** Undefined if not signed in. */
  readonly visitor: Visitor | undefined;
  /** Form token against cross-site requests. */
  readonly csrf: string;
  /** Undefined: the system's theme. */
  readonly theme: 'light' | 'dark' | undefined;
  readonly ip: string;
  readonly userAgent: string;
  readonly requestId: string;
  /** Path and query of the request. */
  readonly url: string;
}
