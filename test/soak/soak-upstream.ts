/** The upstream of a soak: answers as it is asked to, and while faults are on, every other time by one of them. */

import { BEGINNING } from '../reliability/fault-scripts.js';
import { type EntryError, FAULTS } from '../reliability/faults.js';
import { PROTOCOLS } from '../support/protocols.js';
import {
  responseIn,
  endlessStream,
  eventsIn,
  pacedStream,
  type RecordedRequest,
  type Script,
  ScriptedUpstream,
} from '../support/scripted-upstream.js';
import type { SoakRandom } from './soak-random.js';

/** What a call is for; the prompt says it. */
export const BEHAVIOURS = ['small', 'paced', 'large', 'endless'] as const;
export type Behaviour = (typeof BEHAVIOURS)[number];

const MARK = /soak-([a-z]+)/;
export const USAGE = { prompt: 400, completion: 200 };
const LARGE = BEGINNING.repeat(1000);
/** What a client must hear of it. */
export const TEXTS: Readonly<Record<Exclude<Behaviour, 'endless'>, string>> = {
  small: BEGINNING,
  paced: Array.from({ length: 20 }, (_, index) => ` word ${index}`).join(''),
  large: LARGE,
};
const PACE_MS = 15;

/** Credentials that are refused rest for minutes, and so does who asks for a long rest: then nothing else would happen. */
const TOO_LONG = /status 40[123]|3600|refused$/;
/** The first channels have more patience than a machine takes time, and less than a soak. */
export const TIMEOUT_MS = 3000;
export const SOAK_FAULTS: readonly EntryError[] = FAULTS.filter(
  ({ name, status }) => !TOO_LONG.test(name) && name !== 'nothing that is wrong' && (status ?? 0) !== 404,
);

export class SoakUpstream {
  /** The fault that is on. */
  fault: EntryError | undefined;
  /** How often one was played. */
  faultsPlayed = 0;

  private constructor(
    readonly server: ScriptedUpstream,
    private readonly chance: SoakRandom,
  ) {
    server.script((request) => this.play(request));
    // What it remembers of requests is for tests that look at them.
    setInterval(() => server.requests.splice(0), 5000).unref();
  }

  static async start(chance: SoakRandom): Promise<SoakUpstream> {
    return new SoakUpstream(await ScriptedUpstream.start(), chance);
  }

  private play(request: RecordedRequest): Script {
    const { protocol = 'messages', json, headers } = request;
    const streamed = json['stream'] === true;
    const { fault } = this;
    if (fault !== undefined && headers['x-second'] !== 'yes' && this.chance.percent(50)) {
      if (fault.onlyStreams !== true || streamed) {
        this.faultsPlayed += 1;
        return fault.play({ protocol, streamed });
      }
    }
    return answerFor(protocol, MARK.exec(request.body.toString('latin1'))?.[1] as Behaviour, streamed);
  }
}

function answerFor(protocol: string, behaviour: Behaviour, streamed: boolean): Script {
  if (behaviour === 'endless') return endlessStream(protocol, { text: 'again '.repeat(200), gapMs: 5 });
  const text = TEXTS[behaviour];
  if (!streamed || behaviour !== 'paced') return responseIn(protocol, { text, usage: USAGE });
  const pieces = text.split(/(?= word)/);
  // A server that reports, whether it is asked to or not.
  return pacedStream(
    protocol,
    eventsIn(protocol, { text: pieces, usage: USAGE, includeUsage: true } as object),
    PACE_MS,
  );
}

/** `over-<protocol>`: a first channel that the faults are of, and one behind it that has none. */
export const catalogOf = (url: string): string => `
groups:
  - { name: default, limits: { requests_per_minute: 1000000, tokens_per_minute: 1000000000, concurrency: 10000 } }
models:
${PROTOCOLS.map((protocol) => `  - { name: over-${protocol}, context_window: 1000000, max_output_tokens: 64000, prices: [{ input: 1, output: 10 }] }`).join('\n')}
channels:
${PROTOCOLS.flatMap((protocol) => [
  `  - { name: first-${protocol}, protocol: ${protocol}, base_url: "${url}", credentials: [one], tier: 1, models: [over-${protocol}], timeouts: { first_event_ms: ${TIMEOUT_MS}, idle_ms: ${TIMEOUT_MS} } }`,
  `  - { name: second-${protocol}, protocol: ${protocol}, base_url: "${url}", credentials: [two], tier: 2, models: [over-${protocol}], headers: { x-second: "yes" } }`,
]).join('\n')}
`;
