import { hash } from 'node:crypto';
import { channelEntry } from './catalog-file/entries-from-definitions.js';
import { channelRevision } from './channel.editor.js';
import type { StoredCredential } from './channel.entity.js';
import type { StoredChannel } from './channel.repository.js';
import type { CredentialReader } from './credential-store.js';

const REFERENCE_LENGTH = 12;
const ENDING_LENGTH = 4;
/** Of what is shorter even the ending would tell too much. */
const MIN_SECRET_LENGTH = 20;

/** What operators may know of a credential. */
export interface CredentialNote {
  /** Names it until it is replaced. Tells nothing of it. */
  readonly reference: string;
  /** The variable of the server's environment that it is read from. */
  readonly variable?: string;
  /** Its last characters; absent of a secret that is short, or cannot be opened. */
  readonly ending?: string;
  readonly setAt?: Date;
  /** It was stored under another SECRET_KEY: nobody can call with it. */
  readonly unreadable: boolean;
}

/** A stored channel as operators see it: everything but its secrets. */
export interface ChannelRecord extends Omit<StoredChannel, 'credentials' | 'deletedAt'> {
  readonly credentials: readonly CredentialNote[];
  /** As the catalog file would say it, without the credentials. */
  readonly entry: Readonly<Record<string, unknown>>;
  /** Another one as soon as anything of it is different. */
  readonly revision: string;
}

/** Sealing is different every time, so that nobody can try secrets by it. */
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
