import { createHash } from 'node:crypto';
import type { Channel, ChannelCredential } from '../../../catalog/channels/index.js';

type Addressed = Pick<Channel, 'id' | 'protocol' | 'baseUrl' | 'auth' | 'query' | 'headers'>;

const DIGEST_LENGTH = 12;
/** A channel is made anew when it changes. */
const subjects = new WeakMap<Addressed, string>();

/**
 * What the health of a channel is known by, in every process. One that its operator points elsewhere, or gives other
 * headers, begins anew: what was wrong with it was wrong there.
 */
export function subjectOf(channel: Addressed): string {
  const known = subjects.get(channel);
  if (known !== undefined) return known;
  const { id, protocol, baseUrl, auth, query, headers } = channel;
  const address = JSON.stringify([protocol, baseUrl, auth, query, headers]);
  const digest = createHash('sha256').update(address).digest('hex').slice(0, DIGEST_LENGTH);
  const subject = `${id} ${digest}`;
  subjects.set(channel, subject);
  return subject;
}

/** The same of one of its credentials; of the missing one of a channel that is called without any. */
export const credentialSubjectOf = (channel: Addressed, credential: ChannelCredential | undefined): string =>
  `${subjectOf(channel)} ${credential?.id ?? '-'}`;
