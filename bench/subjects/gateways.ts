// Gateways that are running already, as `peers` measures them. Each is described by a JSON file.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { treeOf } from '../machine/cpu.ts';
import { protocolOf } from '../work/protocols.ts';
import type { Subject } from './subject.ts';

interface GatewayFile {
  readonly name: string;
  /** `http://127.0.0.1:4000`, without `/v1`. */
  readonly address: string;
  readonly key: string;
  /** Which the gateway sends to the upstream as `bench-any`. */
  readonly model: string;
  /** Default: chat-completions. */
  readonly protocol?: string;
  /** Of the gateway, with its descendants. Without it there is no CPU figure. */
  readonly pid?: number;
  /** Of its database, with its descendants. */
  readonly database_pid?: number;
}

const REQUIRED = ['name', 'address', 'key', 'model'] as const;

/** @throws when a file lacks a member */
export function gatewaysIn(folder: string | undefined): readonly Subject[] {
  if (folder === undefined) return [];
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  if (files.length === 0) throw new Error(`${folder} has no JSON file that describes a gateway.`);
  return files.toSorted().map((file) => gateway(file, JSON.parse(readFileSync(join(folder, file), 'utf8'))));
}

function gateway(file: string, described: Partial<GatewayFile>): Subject {
  const { name = '', address = '', key = '', model = '', protocol = 'chat-completions' } = described;
  const missing = REQUIRED.filter((member) => typeof described[member] !== 'string' || described[member] === '');
  if (missing.length > 0) throw new Error(`${file}: ${missing.join(', ')} missing.`);
  const target = { origin: address, protocol, headers: protocolOf(protocol).headers(key), model };
  return {
    name,
    target,
    translating: undefined,
    pid: described.pid,
    workerPids: described.pid === undefined ? [] : treeOf(described.pid).slice(1),
    databasePid: described.database_pid,
    probe: undefined,
    stop: async () => undefined,
  };
}
