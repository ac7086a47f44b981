import { hkdfSync } from 'node:crypto';
import type { Secret } from '../shared/index.js';

/** Separates the fingerprint from every key derived from SECRET_KEY. */
const PURPOSE = 'switchboard mark of backups v1';
const MARK_BYTES = 12;

/** Fingerprint that identifies a SECRET_KEY without revealing it. */
export const markOf = (secretKey: Secret): string =>
  Buffer.from(hkdfSync('sha256', secretKey.reveal(), '', PURPOSE, MARK_BYTES)).toString('hex');
