/** A log entry's error, with its causes. */
export interface LoggedError {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
  /** Of the system or PostgreSQL, with the violated constraint. */
  readonly code?: string;
  readonly constraint?: string;
  readonly table?: string;
  readonly cause?: LoggedError;
}

/** Identifiers of the schema and of error kinds. Any other field may contain user input. */
const NAMES = ['code', 'constraint', 'table'] as const;
/** Causes can form a cycle. */
const MAX_CAUSES = 5;

/**
 * Reduces an error to fields that are safe to log. A failed query carries its text and parameters, and PostgreSQL's
 * detail quotes the row: email addresses, password hashes.
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
