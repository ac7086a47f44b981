import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, isJsonObject, type JsonObject, reasonOf } from '../../shared/index.js';
import { DatabaseUnusable } from '../database.errors.js';

/** State of the embedded server between runs. */
export interface ServerState {
  /** The data directory, absolute. */
  readonly place: string;
  readonly port: number;
  readonly password: string;
  /** Pid when last started or adopted; null before the first start and after a clean stop. */
  readonly pid: number | null;
}

const fileIn = (dataDir: string): string => join(dataDir, 'postgres.json');

/** `DATA_DIR/postgres.json`; undefined if missing or unreadable. */
export function readState(dataDir: string): ServerState | undefined {
  try {
    const state = readJsonFile(fileIn(dataDir));
    return state !== undefined && isServerState(state) ? state : undefined;
  } catch (error) {
    throw new DatabaseUnusable(`${fileIn(dataDir)} cannot be read by this user: ${reasonOf(error)}.`, error);
  }
}

/** Written atomically with mode 0600: it contains the password. */
export function writeState(dataDir: string, state: ServerState): ServerState {
  const file = fileIn(dataDir);
  writeFileSync(`${file}.new`, `${JSON.stringify(state, undefined, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return state;
}

function isServerState(value: object): value is ServerState {
  const { place, port, password, pid }: Partial<Record<keyof ServerState, unknown>> = value;
  return (
    typeof place === 'string' &&
    Number.isSafeInteger(port) &&
    typeof password === 'string' &&
    (pid === null || Number.isSafeInteger(pid))
  );
}

/** The object in a JSON file; undefined if there is no file or no object in it. Other read errors throw. */
export function readJsonFile(file: string): JsonObject | undefined {
  const text = readIfThere(file);
  try {
    const value: unknown = text === undefined ? undefined : JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
