import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { idIn, Notifications, TOPICS, UNHEARD_CACHE_MS } from '../platform/database/index.js';
import { belongsTo, type Caller, KeyAuthenticator } from '../keys/index.js';
import { reasonOf } from '../platform/shared/index.js';
import { RunState } from './run-state.js';

/**
 * Ends running calls of disabled or deleted keys and accounts, within a second and in every process. Calls are
 * registered before admission reads the same rows, so that none is missed.
 */
@Injectable()
export class Revocations implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('Revocations');
  /** Changes may have been missed or could not be checked: all running keys are checked in the next interval. */
  private isBehind = false;
  private isFailing = false;
  private timer: NodeJS.Timeout | undefined;
  private readonly unsubscribe: (() => void)[] = [];

  constructor(
    private readonly state: RunState,
    private readonly keys: KeyAuthenticator,
    private readonly notifications: Notifications,
  ) {}

  onModuleInit(): void {
    const { notifications } = this;
    this.unsubscribe.push(
      notifications.on(TOPICS.key, (payload) => this.checkWhere(({ keyId }) => keyId === idIn(payload))),
      notifications.on(TOPICS.account, (payload) => this.checkWhere((caller) => belongsTo(caller, idIn(payload)))),
    );
    notifications.onReconnect(() => this.checkAll());
    this.timer = setInterval(() => {
      if (this.isBehind || !notifications.connected) this.checkAll();
    }, UNHEARD_CACHE_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
    for (const off of this.unsubscribe) off();
  }

  private checkAll(): void {
    this.isBehind = false;
    this.checkWhere(() => true);
  }

  /** Not awaited: following notifications must not wait for the database. */
  private checkWhere(concerns: (caller: Caller) => boolean): void {
    const keyIds = this.state.keysWhere(concerns);
    if (keyIds.length === 0) return;
    this.endRevoked(keyIds).then(
      () => (this.isFailing = false),
      (error: unknown) => {
        this.isBehind = true;
        if (!this.isFailing)
          this.logger.warn(`Failed to check the keys of running calls; retrying: ${reasonOf(error)}`);
        this.isFailing = true;
      },
    );
  }

  private async endRevoked(keyIds: readonly string[]): Promise<void> {
    for (const refusal of await this.keys.revoked(keyIds)) this.state.failKey(refusal.caller.keyId, refusal);
  }
}
