import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Config } from '../platform/config/index.js';
import { Bodies } from './bodies.js';
import { BodyBudget } from './body-budget.js';
import { RelayTimings } from './relay-timings.js';
import { TimeSlicer } from './translation-job.js';

const MIB = 1024 * 1024;

describe('a body rejected by its watcher', () => {
  it.each(['identity', 'gzip', 'gzip, gzip'])(
    'is left unread and uses no memory with encoding %s (case 107)',
    async (encoding) => {
      const config = { maxBodyBytes: MIB, bodyMemoryBytes: MIB } as Config;
      const budget = new BodyBudget(config);
      const bodies = new Bodies(config, budget, new RelayTimings(), new TimeSlicer());
      const request = new IncomingMessage(new Socket());
      request.headers['content-encoding'] = encoding;
      const wrong = new Error('no JSON');
      const watcher = {
        next: () => {
          throw wrong;
        },
      };
      const reading = bodies.read(request, watcher, 'acc_1');
      const times = encoding.split('gzip').length - 1;
      // More of it is to come.
      request.push(Array.from({ length: times }).reduce<Buffer>((bytes) => gzipSync(bytes), Buffer.alloc(MIB / 2)));
      await expect(reading).rejects.toBe(wrong);
      expect([request.isPaused(), request.destroyed, budget.takenBytes]).toEqual([true, false, 0]);
      for (const event of ['data', 'end']) expect([event, request.listenerCount(event)]).toEqual([event, 0]);
    },
  );
});
