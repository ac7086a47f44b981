import { parentPort } from 'node:worker_threads';
import { replyCount } from './count-tokens.js';
import type { CountRequest } from './token-thread.js';

// The program of the thread: one request after the other, each answered once.

parentPort?.on('message', (request: CountRequest) => parentPort?.postMessage(replyCount(request)));
