import { totalmem } from 'node:os';

/**
 * Bytes that this process may use: the container's limit (cgroup `memory.max`), or the machine's memory. Without a limit,
 * Node reports zero or more than the machine has. V8's heap limit does not matter: bodies are stored outside the heap.
 */
export function memoryLimit(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}
