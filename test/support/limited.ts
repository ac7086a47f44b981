import { Metrics } from '../../src/platform/metrics/index.js';
import type { LimitsChange } from '../../src/platform/limits/index.js';
import { ApiKeyService, KeyDirectory } from '../../src/keys/index.js';
import type { RelayApp, TestCaller } from './relay-app.js';

/** A caller whose key has these limits, in this process at once. */
export async function limitedCaller(relay: RelayApp, limits: LimitsChange, credit = '100'): Promise<TestCaller> {
  const caller = await relay.caller({ credit });
  await relay.get(ApiKeyService).setLimits(caller.keyId, limits);
  await relay.get(KeyDirectory).reload(caller.keyId);
  return caller;
}

/** A metric as the process has it now; labels as in `{subject="key"}`. */
export async function metric(relay: RelayApp, line: string): Promise<number> {
  const text = await relay.get(Metrics).registry.metrics();
  const found = text.split('\n').find((candidate) => candidate.startsWith(`switchboard_${line} `));
  return Number(found?.split(' ').at(-1) ?? 0);
}
