import { totalmem } from 'node:os';

/**
 * Bytes that this process may use: its container's limit (cgroup `memory.max`), or all that the machine has. Node gives
 * zero, or more than there is, where no limit is set. The limit of V8's heap says nothing here: bodies lie outside it.
 */
export function memoryLimit(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}
