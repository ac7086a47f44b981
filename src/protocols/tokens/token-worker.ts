import { parentPort } from 'node:worker_threads';
import { countRequest } from './count-tokens.js';
import type { CountRequest } from './token-counter.js';

// Program of the counting thread: processes one request at a time and replies once to each.

parentPort?.on('message', (request: CountRequest) => parentPort?.postMessage(countRequest(request)));
