/** A relay with an upstream of each protocol, for specs in which one client speaks to all of them. */

import type { RelayTimings } from '../../src/relay/index.js';
import { pairsCatalog } from './pairs.js';
import { RelayApp, type TestCaller } from './relay-app.js';

export { PIXEL } from '../conformance/examples.js';

export interface PairsRelay {
  readonly relay: RelayApp;
  /** Another one for each test. */
  readonly caller: TestCaller;
  /** `http://127.0.0.1:PORT/v1` */
  readonly url: string;
}

/** Starts it for a spec file and stops it at the end. */
export function usePairsRelay(timings: Partial<RelayTimings> = {}): PairsRelay {
  let relay: RelayApp;
  let caller: TestCaller;
  beforeAll(async () => {
    relay = await RelayApp.start(timings);
    await relay.applyCatalog(pairsCatalog(relay.upstream.url));
  });
  afterAll(() => relay.close());
  beforeEach(async () => (caller = await relay.caller({ credit: '1000' })));
  afterEach(() => relay.upstream.reset());
  return {
    get relay() {
      return relay;
    },
    get caller() {
      return caller;
    },
    get url() {
      return `${relay.url}/v1`;
    },
  };
}
