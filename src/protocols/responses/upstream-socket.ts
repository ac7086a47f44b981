import { AppError } from '../../platform/shared/index.js';
import {
  headerOf,
  type JsonFields,
  jsonInterests,
  readJsonFields,
  type UpstreamHeaders,
  type UpstreamSocketProtocol,
} from '../contract/index.js';
import { BETA } from './head.js';
import { responseEdits, rewritten } from './verbatim.js';

const SOCKET_BETA = 'responses_websockets=2026-02-06';
const SOCKET_MESSAGE = jsonInterests('type', 'status', 'headers', 'response.id');
const SUCCESSES: ReadonlySet<string | undefined> = new Set(['response.completed', 'response.incomplete']);
const FAILURES: ReadonlySet<string | undefined> = new Set(['response.failed', 'error']);

/** The vendor's WebSocket mode, as of openai 7.57.0 (`ResponsesClientEvent`, `ResponsesServerEvent`). */
export const RESPONSES_UPSTREAM_SOCKET: UpstreamSocketProtocol = {
  rewriteMessage(call, target) {
    const stream = call.head.fields.place('stream');
    if (stream === undefined) throw new TypeError('Only streamed calls are sent over WebSockets.');
    const beta = [headerOf(call.request, BETA), SOCKET_BETA].filter((name) => name !== undefined).join(', ');
    const message = { ...stream, text: '"type":"response.create"' };
    return {
      path: '/responses',
      query: '',
      headers: { [BETA]: beta },
      body: rewritten(call, target, [...responseEdits(call, target), message]),
    };
  },

  read(message) {
    const fields = fieldsOf(message);
    const type = fields?.hint('type');
    const status = type === 'error' ? fields?.value('status') : undefined;
    return {
      event: eventOf(type, message),
      last: SUCCESSES.has(type) || FAILURES.has(type),
      responseId: SUCCESSES.has(type) ? fields?.hint('response.id') : undefined,
      rejection: isErrorStatus(status) ? { status, headers: headersIn(fields) } : undefined,
    };
  },
};

const isErrorStatus = (status: unknown): status is number =>
  typeof status === 'number' && Number.isInteger(status) && status >= 400 && status < 600;

/** Undefined if it is not a JSON object. The meter of the stream then reports it. */
function fieldsOf(message: Buffer): JsonFields | undefined {
  try {
    return readJsonFields(message, SOCKET_MESSAGE);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return undefined;
  }
}

function eventOf(type: string | undefined, message: Buffer): Buffer {
  const name = type === undefined ? '' : `event: ${type}\n`;
  return Buffer.from(`${name}data: ${message.toString('utf8').replace(/\r\n|\r|\n/g, '\ndata: ')}\n\n`);
}

const headersIn = (fields: JsonFields | undefined): UpstreamHeaders =>
  Object.fromEntries(
    Object.entries(fields?.object('headers') ?? {}).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name.toLowerCase(), value]] : [],
    ),
  );
