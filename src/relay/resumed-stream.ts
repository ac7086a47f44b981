import { Logger } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { AppError, type JsonObject, monotonicMs, reasonOf } from '../platform/shared/index.js';
import { countIn, KEEP_ALIVE_COMMENT, parseData, SseSplitter, sseText, stringOf } from '../protocols/contract/index.js';
import { EVENT_STREAM, STREAM_HEADERS } from './replies.js';
import type { RunState } from './run-state.js';
import type { BackgroundResponse, BackgroundResponses, ResponseOwner } from './stored-responses/index.js';

const POLL_MS = 300;
const KEEP_ALIVE_MS = 10_000;

const LOST: Readonly<Record<NonNullable<BackgroundResponse['lost']>, string>> = {
  interrupted: 'The process that ran this response ended before it was complete. It was not charged.',
  unrecorded: 'This response could not be stored. GET /v1/generations/ID has its cost.',
};

/** The response as JSON. A lost one has failed. */
export function currentResponse({ response, lost }: BackgroundResponse): string {
  if (lost === undefined) return response;
  const error = { code: 'server_error', message: LOST[lost] };
  return JSON.stringify({ ...(JSON.parse(response) as JsonObject), status: 'failed', error });
}

/** @throws AppError when it is not a sequence number */
export function sequenceIn(startingAfter: unknown): number {
  if (startingAfter === undefined) return -1;
  if (typeof startingAfter === 'string' && /^\d{1,9}$/.test(startingAfter)) return Number(startingAfter);
  throw new AppError('invalid_request', 'starting_after must be a sequence number.', {
    param: 'starting_after',
    fault: 'invalid_value',
  });
}

/**
 * The events of a background response from a sequence number on, until it ends: from the database, since any process
 * may run it.
 */
export class ResumedStream {
  private readonly logger = new Logger('BackgroundRun');
  private sentMs = monotonicMs();

  constructor(
    private readonly responses: BackgroundResponses,
    private readonly state: RunState,
    private readonly owner: ResponseOwner,
    private readonly id: string,
  ) {}

  async send(reply: FastifyReply, startingAfter: number): Promise<void> {
    const { raw } = reply;
    reply.hijack();
    raw.writeHead(200, {
      ...(reply.getHeaders() as OutgoingHttpHeaders),
      'content-type': EVENT_STREAM,
      ...STREAM_HEADERS,
    });
    // The first event may take a while.
    raw.flushHeaders();
    try {
      const isComplete = await this.follow(raw, startingAfter);
      raw.end(isComplete ? sseText(undefined, '[DONE]') : undefined);
    } catch (error) {
      this.logger.warn(`Failed to read the events of ${this.id}: ${reasonOf(error)}`);
      // The client resumes from its last event.
      raw.destroy();
    }
  }

  /** False if the client left or the process stops. */
  private async follow(raw: ServerResponse, startingAfter: number): Promise<boolean> {
    let sequence = startingAfter;
    while (!raw.destroyed && !this.state.draining) {
      // Read before the events, which are stored before the end.
      const response = await this.responses.find(this.owner, this.id);
      for (let more = true; more;) {
        const batches = await this.responses.eventsAfter(this.owner, this.id, sequence);
        for (const { lastSequence, text } of batches) {
          await this.write(raw, eventsAfter(text, sequence));
          sequence = lastSequence;
        }
        more = batches.length > 0;
      }
      if (response === undefined) return true;
      if (response.lost !== undefined) await this.write(raw, lostEvent(response, sequence + 1));
      if (response.status !== 'in_progress' || response.lost !== undefined) return true;
      if (monotonicMs() - this.sentMs > KEEP_ALIVE_MS)
        await this.write(raw, Buffer.from(KEEP_ALIVE_COMMENT).toString());
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    return false;
  }

  private async write(raw: ServerResponse, text: string): Promise<void> {
    if (text === '') return;
    this.sentMs = monotonicMs();
    if (raw.write(text) || raw.destroyed) return;
    await new Promise<void>((resolve) => {
      const go = (): void => {
        raw.off('drain', go).off('close', go);
        resolve();
      };
      raw.on('drain', go).on('close', go);
    });
  }
}

function eventsAfter(text: string, sequence: number): string {
  const splitter = new SseSplitter();
  const events = [...splitter.next(Buffer.from(text)), ...splitter.end()];
  return events
    .map((event) => parseData(event))
    .filter((data) => data !== undefined)
    .filter((data) => (countIn(data, 'sequence_number') ?? -1) > sequence)
    .map((data) => sseText(stringOf(data['type']), JSON.stringify(data)))
    .join('');
}

const lostEvent = (response: BackgroundResponse, sequence: number): string =>
  sseText(
    'response.failed',
    JSON.stringify({
      type: 'response.failed',
      sequence_number: sequence,
      response: JSON.parse(currentResponse(response)) as JsonObject,
    }),
  );
