import type { CredentialDefinition } from '../channel-definition.js';
import { referenceOf } from '../channel-record.js';
import type { StoredCredential } from '../channel.entity.js';
import { credentialFrom } from './definitions-from-entries.js';

/** A credential of an edited channel: one that is stored, or a text as the catalog file has it (a secret, `env:NAME`). */
export type EditedCredential = { readonly kept: string } | { readonly text: string };

/** A channel as somebody wants it to be. */
export interface EditedChannel {
  /** Undefined for a new one. */
  readonly id: string | undefined;
  /** Of the channel that the change was thought of. */
  readonly revision: string | undefined;
  /** As the catalog file would say it, but for the credentials; numbers are `Numeral`s. */
  readonly entry: Readonly<Record<string, unknown>>;
  readonly credentials: readonly EditedCredential[];
}

/** As the catalog file would say it. What is kept and is not stored any more is left out. */
export function entryOf({ entry, credentials }: EditedChannel, stored: readonly StoredCredential[]): object {
  const texts = definedCredentials(credentials, stored).map((credential) => {
    if (credential === 'keep' || 'secret' in credential)
      return credential === 'keep' ? '***' : credential.secret.reveal();
    return 'env' in credential ? `env:${credential.env}` : textOfStored(credential.stored);
  });
  return { ...entry, ...(texts.length > 0 && { credentials: texts }) };
}

const textOfStored = (stored: StoredCredential): string => ('env' in stored ? `env:${stored.env}` : '***');

/** What each of the credentials is. */
export const definedCredentials = (
  credentials: readonly EditedCredential[],
  stored: readonly StoredCredential[],
): readonly CredentialDefinition[] =>
  credentials.flatMap((credential): CredentialDefinition[] => {
    if ('text' in credential) return [credentialFrom(credential.text)];
    const kept = stored.find((one) => referenceOf(one) === credential.kept);
    return kept === undefined ? [] : [{ stored: kept }];
  });
