// One protocol as the benchmark needs it: requests of the load generator, responses of the upstream.
import type { Behaviour } from './behaviours.ts';

export interface ProtocolEndpoint {
  /** As the catalog file calls it. */
  readonly id: 'chat-completions' | 'messages' | 'responses';
  /** Behind `/v1`. */
  readonly path: string;
  /** The headers that carry a key. */
  headers(key: string): Record<string, string>;
  /** A request whose prompt takes so many bytes. */
  request(behaviour: Behaviour, promptBytes: number): Buffer;
  /** An unstreamed response of about 1 kB. */
  readonly answer: Buffer;
  /** What a stream begins with, before its first content. */
  readonly opening: string;
  /** The event with this number; `text` is more content for it. */
  event(index: number, text?: string): string;
  /** What ends a stream of so many numbered events. */
  closing(events: number): string;
  /** Stands before the number of an event, whoever has written it, and nowhere else. */
  readonly numberMark: string;
  /** Stands in the last event of a whole stream and in no other. */
  readonly lastWord: string;
}

const SENTENCE = 'The next line says "so it is", in 12 words or fewer.\n';

/** Text such as people send, with what JSON has to escape; so many bytes within a JSON string. */
export function prose(bytes: number): string {
  const size = JSON.stringify(SENTENCE).length - 2;
  return SENTENCE.repeat(Math.floor(bytes / size)).padEnd(
    bytes - Math.floor(bytes / size) * (size - SENTENCE.length),
    '.',
  );
}
