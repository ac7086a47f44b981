import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { findProgram } from './debian-programs.js';

const CHART = resolve(import.meta.dirname, '../../deploy/helm');

/** An object for Kubernetes, as far as the tests read it. */
export interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  // oxlint-disable-next-line typescript/no-explicit-any -- different for each kind, and checked by its schema
  readonly spec: any;
}

const options = (values: object): string[] =>
  Object.entries(values).flatMap(([name, value]) => ['--set-json', `${name}=${JSON.stringify(value)}`]);

/** @throws Error with what Helm says of the chart or the values */
export function lint(values: object): string {
  return execFileSync(findProgram('helm'), ['lint', '--strict', CHART, ...options(values)], {
    encoding: 'utf8',
    stdio: 'pipe',
  });
}

/** The chart with these values, as text. @throws Error with what Helm says of the values */
export function render(values: object): string {
  return execFileSync(findProgram('helm'), ['template', 'switchboard', CHART, ...options(values)], {
    encoding: 'utf8',
    stdio: 'pipe',
  });
}

export const manifestsIn = (text: string): Manifest[] =>
  parseAllDocuments(text).map((document) => document.toJS() as Manifest);

/** Holds objects against the schemas of Kubernetes, unknown fields included. @throws Error with what is wrong */
export function validate(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-helm-'));
  try {
    const file = join(folder, 'manifests.yaml');
    writeFileSync(file, text);
    const { status, stdout, stderr } = spawnSync(findProgram('kubernetes-validate'), ['--strict', file], {
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(stdout + stderr);
    return stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
