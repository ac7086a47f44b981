/** A place between two calls of the log: the call that it is next to, its time to the microsecond. */
export type LogPosition = readonly [at: string, id: string];

/** Where a page begins: older or newer than a place; the newest calls when absent. */
export type LogStart = { readonly before: LogPosition } | { readonly after: LogPosition } | undefined;
