import { parentPort } from 'node:worker_threads';
import { replyCount } from './count-request.handler.js';
import type { CountRequest } from './count-request.js';

// The program of the thread: one request after the other, each answered once.

parentPort?.on('message', (request: CountRequest) => parentPort?.postMessage(replyCount(request)));
