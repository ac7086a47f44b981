import { freePort } from '../../src/platform/database/embedded/supervisor.js';

export { freePort };

/** The base URL of an upstream that is not there. */
export const deadUrl = async (): Promise<string> => `http://127.0.0.1:${await freePort()}/v1`;
