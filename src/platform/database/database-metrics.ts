import { Injectable } from '@nestjs/common';
import { Metrics } from '../metrics/index.js';
import { Notifications } from './notifications.js';
import { DatabasePools } from './pools.js';

/** Metrics of the connection pools. */
@Injectable()
export class DatabaseMetrics {
  constructor(metrics: Metrics, { admission, settlement, general }: DatabasePools, notifications: Notifications) {
    metrics.gauge(
      'database_connections',
      'Database connections by pool: open and idle.',
      ['pool', 'state'],
      (gauge) => {
        for (const [pool, { totalCount, idleCount }] of Object.entries({ admission, settlement, general })) {
          gauge.set({ pool, state: 'open' }, totalCount);
          gauge.set({ pool, state: 'idle' }, idleCount);
        }
      },
    );
    metrics.gauge('database_waiting', 'Statements waiting for a connection, by pool.', ['pool'], (gauge) => {
      for (const [pool, { waitingCount }] of Object.entries({ admission, settlement, general }))
        gauge.set({ pool }, waitingCount);
    });
    metrics.gauge(
      'database_listening',
      'Processes connected to change notifications; others cache reads for one second.',
      [],
      (gauge) => gauge.set(Number(notifications.connected)),
    );
  }
}
