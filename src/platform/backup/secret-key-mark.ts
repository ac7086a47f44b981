import { hkdfSync } from 'node:crypto';
import type { Secret } from '../shared/index.js';

/** Keeps the mark apart from every key that is derived from SECRET_KEY. */
const PURPOSE = 'switchboard mark of backups v1';
const MARK_BYTES = 12;

/** What tells in a backup under which SECRET_KEY it was made, and nothing else of it. */
export const markOf = (secretKey: Secret): string =>
  Buffer.from(hkdfSync('sha256', secretKey.reveal(), '', PURPOSE, MARK_BYTES)).toString('hex');
