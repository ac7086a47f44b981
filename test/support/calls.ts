/** What the specs of the protocols are built from: calls, targets, lists of models, and what is thrown at a wrong one. */

import {
  type Call,
  type CallSignal,
  type ListedModel,
  type MeterReading,
  type ProtocolAdapter,
  type RequestLine,
  SseSplitter,
  type StreamMeter,
  type UpstreamTarget,
} from '../../src/protocols/contract/index.js';
import { AppError } from '../../src/platform/shared/index.js';

export type CallOptions = Partial<RequestLine & Pick<Call, 'id' | 'createdAt'>>;

/** A call as the relay hands it to an adapter. @param body JSON text, or what is to be written as such */
export function aCall(protocol: ProtocolAdapter, body: string | object, options: CallOptions = {}): Call {
  const { id = 'req_1', createdAt = 0, ...line } = options;
  const request = aRequestLine({ method: 'POST', path: protocol.callPaths[0] ?? '', ...line });
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const head = protocol.headReader(request).end({ bytes });
  return { id, createdAt, protocol: protocol.id, request, transport: 'http', ip: '::1', head, body: { bytes } };
}

export const aRequestLine = (overrides: Partial<RequestLine> = {}): RequestLine => ({
  method: 'GET',
  path: '/v1/models',
  query: '',
  headers: {},
  ...overrides,
});

/** Where a call goes that needs no change. */
export const aTarget = (overrides: Partial<UpstreamTarget> = {}): UpstreamTarget => ({
  model: 'm',
  outputLimit: undefined,
  flags: {},
  stream: true,
  maxOutputTokens: 1000,
  mayStore: true,
  family: 'f',
  ...overrides,
});

/** `m/0`, `m/1` and so on. */
export const listedModels = (count: number): ListedModel[] =>
  Array.from({ length: count }, (_, index) => ({
    id: `m/${index}`,
    displayName: `Model ${index}`,
    ownedBy: 'somebody',
    createdAt: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
    contextWindow: 200_000,
    maxOutputTokens: 64_000,
  }));

/** The AppError that the work throws; anything else is thrown on. */
export function refusalOf(work: () => unknown): AppError {
  try {
    work();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('Nothing was refused.');
}

export interface Metered {
  readonly readings: readonly MeterReading[];
  readonly signals: readonly CallSignal[];
  /** What the client gets of it. */
  readonly sent: string;
}

/** Has a meter look at all events of a stream. */
export function metered(meter: StreamMeter, text: string): Metered {
  const splitter = new SseSplitter();
  const events = [...splitter.next(Buffer.from(text)), ...splitter.end()];
  const readings = events.map((event) => meter.next(event));
  const sent = readings.map(({ replacement }, index) => Buffer.from(replacement ?? events[index]!.wire).toString());
  return { readings, signals: readings.flatMap(({ signals }) => signals), sent: sent.join('') };
}
