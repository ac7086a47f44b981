/** What the log says of an error, and of each error that caused it. */
export interface LoggedError {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
  /** Of the system, or PostgreSQL's; with the rule of the schema that was broken. */
  readonly code?: string;
  readonly constraint?: string;
  readonly table?: string;
  readonly cause?: LoggedError;
}

/** Names of the schema and of kinds of failure. Whatever else an error carries may be what somebody has typed. */
const NAMES = ['code', 'constraint', 'table'] as const;
/** An error can be among its own causes. */
const MAX_CAUSES = 5;

/**
 * An error as the log shows it: by what it is, never by what it was about. A failed query carries its text and its
 * parameters, and PostgreSQL's detail quotes the row: addresses of mail, hashes of passwords.
 */
export function loggedError(thrown: unknown, causes = MAX_CAUSES): LoggedError {
  if (!(thrown instanceof Error)) return { type: typeof thrown, message: String(thrown) };
  const { message, stack, cause } = thrown;
  return {
    type: thrown.constructor.name,
    message,
    ...(stack !== undefined && { stack }),
    ...Object.fromEntries(NAMES.map((name) => [name, textIn(thrown, name)]).filter(([, text]) => text !== undefined)),
    ...(cause !== undefined && causes > 0 && { cause: loggedError(cause, causes - 1) }),
  };
}

function textIn(thrown: object, name: string): string | undefined {
  const value = (thrown as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'string' ? value : undefined;
}
