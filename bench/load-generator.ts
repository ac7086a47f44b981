// The load generator as the rest of the run sees it.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Job, Report } from './load/jobs.ts';
import { end, firstMessage, pidOf, startNode } from './machine/child.ts';

export class LoadGenerator {
  readonly pid: number;
  private readonly child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.child = child;
    this.pid = pidOf(child);
  }

  static async start(): Promise<LoadGenerator> {
    const child = startNode([join(import.meta.dirname, 'load/main.ts')], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    await firstMessage(child);
    return new LoadGenerator(child);
  }

  /** One at a time. @throws when the job could not be carried out */
  async do(job: Job): Promise<Report> {
    const answered = once(this.child, 'message');
    this.child.send(job);
    const [answer] = (await answered) as [Report | { readonly error: string }];
    if ('error' in answer) throw new Error(answer.error);
    return answer;
  }

  stop(): Promise<void> {
    return end(this.child);
  }
}
