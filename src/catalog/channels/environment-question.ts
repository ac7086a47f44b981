import { type Notifications, TOPICS } from '../../platform/database/index.js';

/** How long servers have to say which variables they lack, in ms. */
const TIMEOUT_MS = 3000;
/** Names in one question, so that it stays under what a notification can carry. */
const NAMES_AT_ONCE = 50;

interface EnvironmentReply {
  readonly missing: readonly string[];
}

/** Has this process answer which variables of its environment are not set. */
export function answerEnvironmentQuestions(
  notifications: Notifications,
  missing: (names: readonly string[]) => readonly string[],
): void {
  notifications.answer(
    TOPICS.environment,
    (names) => ({ missing: missing(names as readonly string[]) }) satisfies EnvironmentReply,
  );
}

/** Those of the variables that a running server's environment does not have; none when no server runs. */
export async function missingOnServers(
  notifications: Notifications,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const missing = new Set<string>();
  for (let first = 0; first < names.length; first += NAMES_AT_ONCE) {
    const answers = await notifications.ask(TOPICS.environment, names.slice(first, first + NAMES_AT_ONCE), TIMEOUT_MS);
    for (const answer of answers as readonly EnvironmentReply[]) for (const name of answer.missing) missing.add(name);
  }
  return missing;
}
