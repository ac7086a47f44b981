import { Logger } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { arrivalOf, isApiAddress } from './relay/index.js';
import { networkOf } from './shared/index.js';

const MINUTE_MS = 60_000;
/** So many refusals of one network have a line of their own in a minute; of the others only the number is told. */
const LINES_A_MINUTE = 20;
/** The networks that are told apart in a minute; those that come later are counted as one. */
const MAX_NETWORKS = 10_000;
const OTHERS = 'others';

/** Calls have a log line of their own; every other request to the API gets a short one. */
export function logOtherRequests(server: FastifyInstance): void {
  const logger = new Logger('Request');
  const strangers = new StrangerCount(logger);
  server.addHook('onResponse', (request, reply, done) => {
    const isOther = isApiAddress(request.url) && (request.method !== 'POST' || reply.statusCode >= 400);
    if (isOther && (!isStranger(request) || strangers.mayLog(arrivalOf(request).ip)))
      logger.log(lineOf(request, reply));
    done();
  });
  server.addHook('onClose', (_server, done) => {
    strangers.tell();
    done();
  });
}

const lineOf = (request: FastifyRequest, reply: FastifyReply): Record<string, unknown> => ({
  request_id: request.id,
  method: request.method,
  path: request.url.split('?', 1)[0],
  status: reply.statusCode,
  duration_ms: Math.round(reply.elapsedTime),
});

/** Whether the key guard has not let anybody in. */
const isStranger = (request: FastifyRequest): boolean => (request as { user?: unknown }).user === undefined;

/** Keeps strangers who try keys from filling the log: a line is dearer than the refusal that it tells of. */
export class StrangerCount {
  private readonly counts = new Map<string, number>();
  private minute: NodeJS.Timeout | undefined;

  constructor(private readonly logger: Pick<Logger, 'warn'>) {}

  /** Counts a request, and says whether it gets a line of its own. */
  mayLog(address: string): boolean {
    const own = networkOf(address);
    const network = this.counts.has(own) || this.counts.size < MAX_NETWORKS ? own : OTHERS;
    const count = (this.counts.get(network) ?? 0) + 1;
    this.counts.set(network, count);
    this.minute ??= setTimeout(() => this.tell(), MINUTE_MS).unref();
    return count <= LINES_A_MINUTE;
  }

  /** One line for each network that has had lines left out, and a new minute. */
  tell(): void {
    for (const [network, requests] of this.counts)
      if (requests > LINES_A_MINUTE)
        this.logger.warn(
          { network, requests, left_out: requests - LINES_A_MINUTE },
          'Many requests without a valid key came from one network within a minute; not all of them were logged.',
        );
    this.counts.clear();
    clearTimeout(this.minute);
    this.minute = undefined;
  }
}
