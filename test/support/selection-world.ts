/** Channels on a database and a clock of the test's own, for specs of whom calls ask. */

import type { TestingModule, TestingModuleBuilder } from '@nestjs/testing';
import { setImmediate } from 'node:timers/promises';
import { CatalogImport } from '../../src/catalog/channels/index.js';
import { CatalogService } from '../../src/catalog/index.js';
import { AppError, Clock } from '../../src/platform/shared/index.js';
import { CheckCalls } from '../../src/relay/routing/health/check-calls.js';
import { HealthLimits } from '../../src/relay/routing/health/cooldown.js';
import { RoutingModule } from '../../src/relay/routing/index.js';
import {
  type Assignment,
  type CallSelection,
  ChannelSelection,
  type SelectionQuery,
} from '../../src/relay/routing/selection/call-selection.js';
import { NoChannel, Random } from '../../src/relay/routing/selection/channel-status.js';
import { freshDatabase, type TestDatabase } from './database.js';
import { HeldClock } from './held-clock.js';
import { startOn } from './modules.js';
import { SeededRandom } from './seeded-random.js';

const USUAL_AUTH = new Map([
  ['responses', 'bearer'],
  ['messages', 'x-api-key'],
] as const);

export interface ChannelSpec {
  readonly name: string;
  readonly tier?: number;
  readonly weight?: number;
  readonly protocol?: string;
  readonly credentials?: readonly string[];
  readonly concurrency?: number;
}

const catalogOf = (channels: readonly ChannelSpec[]): string => `
models:
  - { name: m, context_window: 200000, max_output_tokens: 64000, groups: [default], prices: free }
channels:
${channels
  .map(
    ({ name, tier = 1, weight = 100, protocol = 'responses', credentials = [`secret-of-${name}`], concurrency }) =>
      `  - { name: ${name}, protocol: ${protocol}, base_url: "http://127.0.0.1:9/${name}", credentials: ${JSON.stringify(credentials)}, tier: ${tier}, weight: ${weight}, models: { m: m }${concurrency === undefined ? '' : `, max_concurrency: ${concurrency}`} }`,
  )
  .join('\n')}
`;

export const RATE_LIMITED = (retryAfterSeconds: number): AppError =>
  new AppError('rate_limit_exceeded', 'Slow down.', { failover: true, upstreamStatus: 429, retryAfterSeconds });
export const REFUSED = new AppError('upstream_auth', 'Who are you?', { failover: true, upstreamStatus: 401 });
export const BROKEN = new AppError('upstream_error', 'It failed.', { failover: true, upstreamStatus: 500 });
export const BAD_REQUEST = new AppError('invalid_request', 'What?', { upstreamStatus: 400 });

export interface SelectionWorld {
  /** Another one for each test, as are clock and random numbers. */
  readonly program: TestingModule;
  readonly clock: HeldClock;
  readonly random: SeededRandom;
  /** Serves these channels. */
  readonly start: (channels: readonly ChannelSpec[], limits?: Partial<HealthLimits>) => Promise<void>;
  readonly aCall: (wanted?: Partial<SelectionQuery>) => CallSelection;
  /** Undefined: there is nobody. */
  readonly drawn: (call: CallSelection) => Promise<Assignment | undefined>;
  /** One attempt of a call, and what comes of it; gives the name of the channel. */
  readonly attempt: (call: CallSelection, outcome?: AppError) => Promise<string | undefined>;
  /** Why nobody can be asked. @throws Error where somebody can */
  readonly refusal: () => NoChannel;
  /** An attempt that fails. Resolves when what it leads to has been checked. */
  readonly fail: (assignment: Assignment, outcome: AppError) => Promise<void>;
  /** From now on check calls are answered, or fail with this. Until then they fail as the last attempt did. */
  readonly checksFind: (outcome: AppError | undefined) => void;
  /** How many check calls were made. */
  readonly checkCount: number;
}

export const secretOf = ({ credential }: Assignment): string | undefined => credential?.secret.reveal();

const drawn = async (call: CallSelection): Promise<Assignment | undefined> => {
  try {
    return await call.next();
  } catch (error) {
    if (error instanceof NoChannel) return undefined;
    throw error;
  }
};
const settled = (
  builder: TestingModuleBuilder,
  clock: Clock,
  random: Random,
  health: HealthLimits,
): TestingModuleBuilder =>
  builder
    .overrideProvider(Clock)
    .useValue(clock)
    .overrideProvider(Random)
    .useValue(random)
    .overrideProvider(HealthLimits)
    .useValue(health);

/** For a spec file: what is started in a test is stopped behind it. */
export function useSelection(): SelectionWorld {
  let database: TestDatabase;
  let program: TestingModule;
  let clock: HeldClock;
  let random: SeededRandom;
  let lastFailure: AppError | undefined;
  let checkCount: number;
  let checkOutcome: () => AppError | undefined;

  async function start(channels: readonly ChannelSpec[], limits: Partial<HealthLimits> = {}): Promise<void> {
    const health = { ...new HealthLimits(), ...limits };
    program = await startOn(database, [RoutingModule], (builder) => settled(builder, clock, random, health));
    program.useLogger(false);
    program.get(CheckCalls).send = () => {
      checkCount += 1;
      return Promise.resolve(checkOutcome());
    };
    const protocols = USUAL_AUTH;
    await program.get(CatalogImport).apply(catalogOf(channels), { fileName: 'test.yaml', prune: true, protocols });
    await program.get(CatalogService).reload();
  }

  beforeEach(async () => {
    database = await freshDatabase();
    clock = new HeldClock();
    random = new SeededRandom(7);
    lastFailure = undefined;
    checkCount = 0;
    checkOutcome = () => lastFailure;
  });
  afterEach(async () => {
    await program.close();
    await database.drop();
  });

  const aCall = (wanted: Partial<SelectionQuery> = {}): CallSelection =>
    program
      .get(ChannelSelection)
      .for({ group: 'default', model: 'm', protocol: 'responses', affinity: undefined, accountId: 'acc_1', ...wanted });
  const fail = async (assignment: Assignment, outcome: AppError): Promise<void> => {
    lastFailure = outcome;
    assignment.failed(outcome);
    assignment.release();
    await setImmediate();
  };
  const attempt = async (call: CallSelection, outcome?: AppError): Promise<string | undefined> => {
    const assignment = await drawn(call);
    if (assignment === undefined) return undefined;
    if (outcome !== undefined) await fail(assignment, outcome);
    else {
      assignment.succeeded();
      assignment.release();
    }
    return assignment.channel.name;
  };
  const refusal = (): NoChannel => {
    try {
      void aCall().next();
    } catch (error) {
      if (error instanceof NoChannel) return error;
    }
    throw new Error('There is somebody to ask.');
  };

  return {
    get program() {
      return program;
    },
    get clock() {
      return clock;
    },
    get random() {
      return random;
    },
    get checkCount() {
      return checkCount;
    },
    checksFind: (outcome) => (checkOutcome = () => outcome),
    start,
    aCall,
    drawn,
    attempt,
    fail,
    refusal,
  };
}
