import { hash } from 'node:crypto';
import { channelEntry } from './catalog-file/entries-from-definitions.js';
import { channelRevision } from './channel.editor.js';
import type { StoredCredential } from './channel.entity.js';
import type { StoredChannel } from './channel.repository.js';
import type { CredentialReader } from './credential-store.js';

const REFERENCE_LENGTH = 12;
const ENDING_LENGTH = 4;
/** The ending of a shorter secret would reveal too much. */
const MIN_SECRET_LENGTH = 20;

/** What administrators see of a credential. */
export interface CredentialNote {
  /** Identifies it until it is replaced; reveals nothing. */
  readonly reference: string;
  /** Its environment variable. */
  readonly variable?: string;
  /** Its last characters; absent for short or unreadable secrets. */
  readonly ending?: string;
  readonly setAt?: Date;
  /** Sealed with another SECRET_KEY and unusable. */
  readonly unreadable: boolean;
}

/** A stored channel as administrators see it, without secrets. */
export interface ChannelRecord extends Omit<StoredChannel, 'credentials' | 'deletedAt'> {
  readonly credentials: readonly CredentialNote[];
  /** As in the catalog file, without credentials. */
  readonly entry: Readonly<Record<string, unknown>>;
  /** Changes with any property. */
  readonly revision: string;
}

/** A hash of the sealed text, which differs on each sealing and so cannot be used to guess the secret. */
export const referenceOf = (credential: StoredCredential): string =>
  hash('sha256', JSON.stringify(credential), 'hex').slice(0, REFERENCE_LENGTH);

export function recordOf(channel: StoredChannel, reader: CredentialReader): ChannelRecord {
  const { credentials, deletedAt: _, ...columns } = channel;
  return {
    ...columns,
    credentials: credentials.map((credential) => noteOf(credential, channel.id, reader)),
    entry: channelEntry(channel, []),
    revision: channelRevision(channel),
  };
}

function noteOf(credential: StoredCredential, id: string, reader: CredentialReader): CredentialNote {
  const reference = referenceOf(credential);
  if ('env' in credential) return { reference, variable: credential.env, unreadable: false };
  const [secret] = reader.read({ id, credentials: [credential] }).credentials.map((read) => read.secret.reveal());
  return {
    reference,
    unreadable: secret === undefined,
    ...(secret !== undefined && secret.length >= MIN_SECRET_LENGTH && { ending: secret.slice(-ENDING_LENGTH) }),
    ...(credential.setAt !== undefined && { setAt: new Date(credential.setAt) }),
  };
}
