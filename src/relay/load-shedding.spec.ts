import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Config } from '../platform/config/index.js';
import { Metrics } from '../platform/metrics/index.js';
import { LoadShedding } from './call.guard.js';

const LIMITS = { maxCallsInFlight: 1, maxEventLoopDelayMs: 60_000 } as Config;

const aResponse = (): ServerResponse => new ServerResponse(new IncomingMessage(new Socket()));

describe('LoadShedding', () => {
  let load: LoadShedding;
  beforeEach(() => (load = new LoadShedding(new Metrics(), LIMITS)));
  afterEach(() => load.onModuleDestroy());

  it('counts a call until its response ends', () => {
    const response = aResponse();
    load.take(response);
    expect(() => load.take(aResponse())).toThrow('overloaded');
    response.emit('close');
    expect(() => load.take(aResponse())).not.toThrow();
  });

  it('does not count a call whose client has already left', () => {
    const left = aResponse();
    left.destroy();
    left.emit('close');
    load.take(left);
    expect(() => load.take(aResponse())).not.toThrow();
  });
});
