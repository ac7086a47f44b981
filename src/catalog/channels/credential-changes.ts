import type { StoredCredential } from './channel.entity.js';

const same = (one: StoredCredential | undefined, other: StoredCredential | undefined): boolean =>
  JSON.stringify(identity(one)) === JSON.stringify(identity(other));

/** When it was set tells nothing of what it is. */
const identity = (credential: StoredCredential | undefined): unknown =>
  credential && ('env' in credential ? { env: credential.env } : { sealed: credential.sealed });

/** What has become of a channel's credentials, a line for each, by the place where it stands or stood; never a secret. */
export function credentialChanges(
  before: readonly StoredCredential[],
  after: readonly StoredCredential[],
): readonly string[] {
  const isIn = (list: readonly StoredCredential[], wanted: StoredCredential | undefined): boolean =>
    wanted !== undefined && list.some((credential) => same(credential, wanted));
  const gone = before.flatMap((credential, index) => {
    if (isIn(after, credential)) return [];
    const next = after[index];
    return [`credential ${index + 1} ${next !== undefined && !isIn(before, next) ? 'replaced' : 'removed'}`];
  });
  const added = after.flatMap((credential, index) => {
    if (isIn(before, credential)) return [];
    const last = before[index];
    return last !== undefined && !isIn(after, last) ? [] : [`credential ${index + 1} added`];
  });
  const moved = before.length === after.length && !before.every((credential, index) => same(credential, after[index]));
  const lines = [...gone, ...added];
  return lines.length === 0 && moved ? ['credentials reordered'] : lines;
}
