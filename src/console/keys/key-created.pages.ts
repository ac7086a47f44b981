import { Injectable } from '@nestjs/common';
import { describeLimits } from '../../platform/limits/index.js';
import { Clock } from '../../platform/shared/index.js';
import { clientSnippets, Page, Redirect, STORE_KEY } from '../web/index.js';
import { BaseAddress } from '../../platform/config/index.js';
import { type Visitor } from '../../auth/index.js';
import { type CreatedApiKey, OwnKeys } from '../../keys/index.js';
import { KeyChoices } from './key-choices.js';
import { crumbsTo, expiryView, limitsText, networksText } from './key-facts.js';

/** The one page that a secret stands on. */
@Injectable()
export class KeyCreatedPages {
  constructor(
    private readonly keys: OwnKeys,
    private readonly choices: KeyChoices,
    private readonly address: BaseAddress,
    private readonly clock: Clock,
  ) {}

  /** @param replaced the key that has leaked, whose place this one takes */
  async created(
    visitor: Visitor,
    { id, secret }: CreatedApiKey,
    replaced?: { readonly id: string; readonly name: string },
  ): Promise<Page> {
    const key = await this.keys.get({ accountId: visitor.accountId, id });
    const baseUrl = this.address.current();
    return new Page('keys/created', {
      title: `Key “${key.name}” is ready`,
      width: 'narrow',
      data: {
        key: { id, name: key.name },
        secret: secret.reveal(),
        groupText: this.choices.groupOf(key),
        limitsText: limitsText(key),
        pace: describeLimits(this.choices.limitsOf(key)),
        networks: networksText(key.networks),
        models: key.models,
        expiry: expiryView(key.expiresAt, visitor.timeZone, this.clock.date()),
        storeKey: STORE_KEY,
        tabs: clientSnippets(baseUrl, this.choices.reachable(key)),
        replaced,
        crumbs: crumbsTo(key.name),
      },
    });
  }
}

/** The key's page, for whoever has sent its form again. */
export const shownBefore = (location: string): Redirect =>
  new Redirect(location, {
    tone: 'warn',
    title: 'This key was already created',
    text: 'The key was shown once and cannot be shown again. If you did not store it, create a new key and delete this one.',
  });
