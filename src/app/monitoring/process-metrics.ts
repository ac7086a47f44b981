import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics } from 'prom-client';
import { Metrics } from '../../platform/metrics/index.js';

/** What a Node process is watched by everywhere: CPU, memory, garbage collection, the delay of its event loop. */
@Injectable()
export class ProcessMetrics {
  private readonly serving;

  constructor(private readonly metrics: Metrics) {
    this.serving = metrics.gauge('processes', 'Processes included in the other metrics.');
  }

  /** For a process that serves, once: what watches it is not taken off again. */
  watch(): void {
    this.serving.set(1);
    collectDefaultMetrics({ register: this.metrics.registry });
  }
}
