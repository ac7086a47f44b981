import { dirname, resolve } from 'node:path';
import { canEnter, serverUser, type SystemUser } from '../../src/platform/database/embedded/run-as.js';

const CHECKOUT = resolve(import.meta.dirname, '../..');

/**
 * Somebody whom the modes of files bind: whoever runs the tests, or for root the user that it runs PostgreSQL as.
 * Undefined when that one cannot reach this checkout or Node.
 */
export function ordinaryUser(): SystemUser | undefined {
  const user = serverUser();
  return [CHECKOUT, dirname(process.execPath)].every((folder) => canEnter(user, folder)) ? user : undefined;
}
