import { Injectable } from '@nestjs/common';
import { ChannelDrafts, type EditedChannel } from '../../../catalog/channels/index.js';
import { AdapterRegistry, type CheckResult, UpstreamQuestions } from '../../../relay/index.js';
import { AppError, Clock } from '../../../platform/shared/index.js';
import { count } from '../../../platform/format/index.js';

/** Limit of upstream models offered on a page. */
const MAX_MODELS = 500;

/** The view of an upstream check. */
export interface CheckView {
  readonly tone: 'ok' | 'bad';
  readonly title: string;
  readonly text: string;
  readonly at: Date;
}

/** Upstream models that the form does not have yet. */
export interface OfferedNames {
  readonly names: readonly string[];
  /** Number of all upstream models. */
  readonly all: number;
  readonly fault?: string;
}

/** Queries an upstream with unsaved form values. */
@Injectable()
export class ChannelQuestions {
  constructor(
    private readonly drafts: ChannelDrafts,
    private readonly adapters: AdapterRegistry,
    private readonly questions: UpstreamQuestions,
    private readonly clock: Clock,
  ) {}

  /** @throws RefusedEntries if a value needed to reach the upstream is invalid */
  async check(edited: EditedChannel, model: string): Promise<CheckView> {
    const channel = await this.drafts.draft(edited, this.adapters.usualAuth);
    return viewOf(await this.questions.check(channel, model), model, this.clock.date());
  }

  /** @throws RefusedEntries as above */
  async models(edited: EditedChannel, known: readonly string[]): Promise<OfferedNames> {
    const channel = await this.drafts.draft(edited, this.adapters.usualAuth);
    try {
      const names = await this.questions.models(channel);
      return { names: names.filter((name) => !known.includes(name)).slice(0, MAX_MODELS), all: names.length };
    } catch (error) {
      return { names: [], all: 0, fault: AppError.from(error).message };
    }
  }
}

function viewOf(
  { answered, message, durationMs, firstByteMs, usage }: CheckResult,
  model: string,
  at: Date,
): CheckView {
  const took = `${count(durationMs)} ms`;
  if (!answered) return { tone: 'bad', title: `No response from ${model} after ${took}`, text: `${message}.`, at };
  const parts = [
    ...(firstByteMs === undefined ? [] : [`First byte ${count(firstByteMs)} ms`]),
    ...(usage === undefined ? [] : [`${count(usage.input)} tokens in, ${count(usage.output)} out`]),
  ];
  return { tone: 'ok', title: `${model} responded in ${took}`, text: parts.join(' · '), at };
}
