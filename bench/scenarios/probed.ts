// Subjects that are started with a probe inside, one after the other, for the scenarios that must look there. The
// relay's figures of speed never come from these.
import type { MemoryUse, ProbeClient } from '../probe/client.ts';
import type { Line } from '../report/result.ts';
import type { Stage } from '../stage.ts';
import type { Subject } from '../subjects/subject.ts';
import { watched } from '../subjects/watched.ts';

export async function probed(
  stage: Stage,
  look: (subject: Subject, memory: () => Promise<MemoryUse>) => Promise<Line>,
): Promise<readonly Line[]> {
  const lines: Line[] = [];
  for (const name of stage.names.filter((candidate) => candidate !== 'direct')) {
    const subject = await stage.start(name, watched());
    try {
      lines.push(await look(subject, () => probeOf(subject).memory()));
    } finally {
      await stage.load.do({ kind: 'release' });
      await subject.stop();
    }
  }
  return lines;
}

export function probeOf({ probe, name }: Subject): ProbeClient {
  if (probe === undefined) throw new Error(`${name} was started without a probe.`);
  return probe;
}
