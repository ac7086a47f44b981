// What the upstream does with a call. The model's name says it, since that is what every relay passes on.

/** Events of a stream that is sent as fast as it is taken. */
export const FAST_EVENTS = 200;
/** Events of a stream that speaks at the pace of a model. */
export const PACED_EVENTS = 64;
export const PACE_MS = 20;
/** What is sent to a reader that cannot take it. */
export const FLOOD_BYTES = 50_000_000;

/**
 * `answer` is one JSON body; `fast`, `paced` and `idle` are streams; `flood` is one whose events are large; `translated`
 * is `fast` of an upstream that speaks another protocol than the client.
 */
export const BEHAVIOURS = ['answer', 'fast', 'translated', 'paced', 'idle', 'flood'] as const;
export type Behaviour = (typeof BEHAVIOURS)[number];

/** Numbered events that a client waits for; 0 where it counts none. */
export const EVENTS: Readonly<Record<Behaviour, number>> = {
  answer: 0,
  fast: FAST_EVENTS,
  translated: FAST_EVENTS,
  paced: PACED_EVENTS,
  idle: 1,
  flood: 0,
};

const STREAMED = /"stream"\s*:\s*true/;
const NAME = /"model"\s*:\s*"bench-([a-z]+)"/;

export const modelFor = (behaviour: Behaviour): string => `bench-${behaviour}`;

/** A model for gateways that offer one only: its streams are paced. */
export const ONE_MODEL = 'bench-any';

/** The behaviour that a request asks for; undefined when these bytes do not say it. */
export function behaviourIn(body: string): Behaviour | undefined {
  const name = NAME.exec(body)?.[1];
  return BEHAVIOURS.find((behaviour) => behaviour === name);
}

/** The behaviour of a whole request; undefined when it names no model of the benchmark. */
export function behaviourOf(body: string): Behaviour | undefined {
  if (NAME.exec(body)?.[0].endsWith(`"${ONE_MODEL}"`) === true) return STREAMED.test(body) ? 'paced' : 'answer';
  return behaviourIn(body);
}
