import 'reflect-metadata';
import { parentPort, workerData } from 'node:worker_threads';
import * as protocolModules from '../protocols/index.js';
import { adaptersIn } from './adapter.registry.js';
import { doJob, type TranslationJob } from './translation-job.js';
import { unsealWith } from './reasoning-seal.js';

// Program of the translation thread: processes one request at a time and replies once to each.

const { protocols, upstreams } = adaptersIn(Object.values(protocolModules));
const { sealKey } = workerData as { readonly sealKey: Uint8Array };
const tools = {
  clientAdapter: (id: string) => protocols.get(id),
  upstreamAdapter: (id: string) => upstreams.get(id),
  unseal: (text: string) => unsealWith(sealKey, text),
};

parentPort?.on('message', (job: TranslationJob) => {
  const reply = doJob(job, tools);
  parentPort?.postMessage(reply, 'built' in reply ? [reply.built.body.buffer as ArrayBuffer] : []);
});
