import { type Notifications, TOPICS } from '../../platform/database/index.js';

/** How long servers have to answer, in ms. */
const TIMEOUT_MS = 3000;
/** Names per question, which must fit into a notification. */
const NAMES_AT_ONCE = 50;

interface EnvironmentReply {
  readonly missing: readonly string[];
}

/** Makes this process answer which environment variables it lacks. */
export function handleEnvironmentQuestions(
  notifications: Notifications,
  missing: (names: readonly string[]) => readonly string[],
): void {
  notifications.handle(
    TOPICS.environment,
    (names) => ({ missing: missing(names as readonly string[]) }) satisfies EnvironmentReply,
  );
}

/** Which of the variables a running server lacks; none if no server runs. */
export async function missingOnServers(
  notifications: Notifications,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const missing = new Set<string>();
  for (let first = 0; first < names.length; first += NAMES_AT_ONCE) {
    const replies = await notifications.ask(TOPICS.environment, names.slice(first, first + NAMES_AT_ONCE), TIMEOUT_MS);
    for (const reply of replies as readonly EnvironmentReply[]) for (const name of reply.missing) missing.add(name);
  }
  return missing;
}
