// The scenarios that start programs of their own, by name.
import type { ScenarioResult } from '../report/result.ts';
import type { Stage } from '../stage.ts';
import { fullLog } from './full-log.ts';
import { idleStreams } from './idle-streams.ts';
import { largePrompts } from './large-prompts.ts';
import { logPages } from './log-pages.ts';
import type { RelayScenarioName } from './names.ts';
import { slowReaders } from './slow-readers.ts';
import { unknownKeys } from './unknown-keys.ts';
import { workers } from './workers.ts';

export const INSIDE: Readonly<Record<RelayScenarioName, (stage: Stage) => Promise<ScenarioResult>>> = {
  'idle-streams': idleStreams,
  'slow-readers': slowReaders,
  'unknown-keys': unknownKeys,
  'large-prompts': largePrompts,
  workers,
  'log-pages': logPages,
  'full-log': fullLog,
};
