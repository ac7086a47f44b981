import { Injectable } from '@nestjs/common';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { processIdentity } from '../../../platform/database/index.js';
import { Clock, newId } from '../../../platform/shared/index.js';

/** Which of the processes that share the database this is: its calls carry its id. */
@Injectable()
export class ThisProcess {
  readonly id: string;
  readonly pid = process.pid;
  /** Where its number means something: nobody elsewhere can tell from it whether it lives. */
  readonly host = thisHost();
  /** What tells it from a later process with the same number; empty where that cannot be known. */
  readonly identity = processIdentity(process.pid) ?? '';

  constructor(clock: Clock) {
    this.id = newId('prs', clock.now());
  }

  /** Whether a process is known to have ended: only ever true of one that ran here. */
  knowsGone({ host, pid, identity }: Pick<ThisProcess, 'host' | 'pid' | 'identity'>): boolean {
    return host === this.host && identity !== '' && processIdentity(pid) !== identity;
  }
}

/**
 * The machine, since when it has been up, and the container: in each of these, numbers of processes are given anew.
 * The last two are known on Linux only.
 */
const thisHost = (): string =>
  [
    hostname(),
    read(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
    read(() => readlinkSync('/proc/self/ns/pid')),
  ]
    .filter((part) => part !== '')
    .join(' ');

function read(source: () => string): string {
  try {
    return source().trim();
  } catch {
    return '';
  }
}
